// The list of chats.

import { byId, h, icon, reconcile, setText, show } from "./dom.js";
import { hue, initials, plural, preview, shortTime, stateWords } from "./format.js";
import { go } from "./view.js";

// mostRows keeps the list quick in floods of thousands of chats.
const mostRows = 150;

export function avatar(chat) {
  return h("span", { class: `avatar hue-${hue(chat.id)}`, "aria-hidden": "true" }, initials(chat.title));
}

function lastTime(chat) {
  return chat.last ? Date.parse(chat.last.time) : 0;
}

function marks(chat, penalty) {
  const list = [];
  if (penalty)
    list.push(
      h(
        "span",
        { class: "mark-pill warn", title: "Penalty: calls to this chat get 429" },
        icon("clock", "Penalty"),
        h("span", { class: "ticking", "data-until": penalty }),
      ),
    );
  if (chat.state !== "open") list.push(icon("block", stateWords(chat.state)));
  return list;
}

function summary(chat, typing) {
  if (typing) return h("span", { class: "chat-last typing" }, "typing\u2026");
  if (chat.state === "blocked" || chat.state === "kicked")
    return h(
      "span",
      { class: "chat-last off" },
      chat.state === "blocked" ? "Blocked the bot" : "Bot was removed",
    );
  if (!chat.last) return h("span", { class: "chat-last" }, "No messages yet");
  const who = chat.last.from_bot ? "Bot: " : chat.type === "private" ? "" : `${chat.last.from_name}: `;
  return h("span", { class: "chat-last" }, h("span", { class: "who" }, who), preview(chat.last));
}

function row(store, actions, chat, { penalty, typing }) {
  const open = chat.id === store.open;
  const unread =
    chat.unread > 0
      ? h(
          "span",
          { class: "badge", "aria-label": plural(chat.unread, "unread message") },
          chat.unread > 99 ? "99+" : String(chat.unread),
        )
      : null;
  const button = h(
    "button",
    {
      class: `chat-row${open ? " open" : ""} is-${chat.state}`,
      type: "button",
      "data-focus": `chat ${chat.id}`,
      "data-chat": chat.id,
      "aria-current": open ? "true" : null,
      onclick: () => {
        go("talk");
        if (open) actions.read();
        else actions.open(chat.id);
      },
    },
    avatar(chat),
    h(
      "span",
      { class: "chat-top" },
      chat.type === "private" ? null : icon("group", chat.type),
      h("span", { class: "chat-title" }, chat.title),
      h("span", { class: "marks" }, ...marks(chat, penalty)),
      h("time", { class: "chat-time" }, chat.last ? shortTime(chat.last.time) : ""),
    ),
    h("span", { class: "chat-bottom" }, summary(chat, typing), unread),
  );
  return h("li", {}, button);
}

function matches(chat, words) {
  return !words || `${chat.title} ${chat.username ?? ""} ${chat.id}`.toLowerCase().includes(words);
}

// item describes a row; sign holds everything the row shows.
function item(store, actions, chat) {
  const extra = {
    penalty: store.penalties.get(chat.id) > store.now() ? store.penalties.get(chat.id) : 0,
    typing: Boolean(chat.typing_until) && Date.parse(chat.typing_until) > store.now(),
  };
  const last = chat.last
    ? [chat.last.seq, chat.last.edited?.length, chat.last.deleted, shortTime(chat.last.time)]
    : [];
  const sign = [
    chat.title,
    chat.state,
    chat.unread,
    chat.id === store.open,
    extra.penalty,
    extra.typing,
    ...last,
  ].join("|");
  return { key: chat.id, sign, build: () => row(store, actions, chat, extra) };
}

// moveFocus lets the arrow keys walk through the rows.
function moveFocus(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const rows = [...byId("chat-list").querySelectorAll(".chat-row")];
  const next = rows[rows.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

export function mountChats(store, actions) {
  const filter = byId("filter");
  filter.addEventListener("input", () => store.changed());
  byId("chats").addEventListener("keydown", moveFocus);
  store.subscribe(() => {
    const words = filter.value.trim().toLowerCase();
    const found = [...store.chats.values()].filter((chat) => matches(chat, words));
    found.sort((a, b) => lastTime(b) - lastTime(a) || Number(a.id) - Number(b.id));
    reconcile(
      byId("chat-list"),
      found.slice(0, mostRows).map((chat) => item(store, actions, chat)),
    );
    const hidden = found.length - mostRows;
    show(byId("chat-more"), hidden > 0 || (store.loaded && found.length === 0));
    setText(
      byId("chat-more"),
      hidden > 0 ? `${plural(hidden, "more chat")}: search to find one.` : "No chat matches.",
    );
    setText(byId("bot-name"), store.bot.username ? `@${store.bot.username}` : "");
  });
}
