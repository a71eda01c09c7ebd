// The open conversation: its header, its messages and where it is scrolled to.

import { bubble, dayLine, noteLine } from "./bubble.js";
import { byId, h, icon, reconcile, setText, show } from "./dom.js";
import { dayOf, hue, initials, instant, stateWords } from "./format.js";
import { workflowLink } from "./temporal.js";

const sameRun = 5 * 60 * 1000;
const nearEnd = 60;

function subtitle(store, chat) {
  if (chat.typing_until && Date.parse(chat.typing_until) > store.now()) return "bot is typing\u2026";
  const kind = chat.type === "private" ? (chat.username ? `@${chat.username}` : "private chat") : chat.type;
  return [kind, `id ${chat.id}`, stateWords(chat.state)].filter(Boolean).join(" \u00b7 ");
}

function header(store, chat) {
  setText(byId("talk-title"), chat.title);
  setText(byId("talk-sub"), subtitle(store, chat));
  byId("talk-sub").classList.toggle("typing", byId("talk-sub").textContent.startsWith("bot is typing"));
  byId("talk-avatar").className = `avatar hue-${hue(chat.id)}`;
  setText(byId("talk-avatar"), initials(chat.title));
  const end = store.penaltyOf(chat.id);
  const items = end
    ? [
        {
          key: "penalty",
          sign: String(end),
          build: () =>
            h(
              "span",
              { class: "pill warn", title: "Calls to this chat are answered 429 until then" },
              icon("clock", "Penalty"),
              h("span", { class: "pill-word" }, "Penalty"),
              h("span", { class: "ticking", "data-until": end }),
            ),
        },
      ]
    : [];
  reconcile(byId("talk-pills"), items);
  const block = byId("talk-block");
  const words = {
    open: chat.type === "private" ? "Block bot" : "Remove bot",
    blocked: "Unblock bot",
    kicked: "Let bot in",
  }[chat.state];
  show(block, Boolean(words));
  setText(block, words ?? "");
}

function tickOf(store, message) {
  if (message.from_bot || message.service) return "none";
  if (message.update_id === "0") return "refused";
  return Number(message.update_id) < Number(store.pulse?.confirmed ?? 0) ? "confirmed" : "queued";
}

const follows = (a, b) =>
  Boolean(a && b) &&
  !a.service &&
  !b.service &&
  a.from_id === b.from_id &&
  dayOf(a.time) === dayOf(b.time) &&
  Date.parse(b.time) - Date.parse(a.time) < sameRun;

function messageItem(store, actions, chat, index) {
  const { messages } = store;
  const message = messages[index];
  const pressed = new Set(
    [...store.presses.keys()]
      .filter((each) => each.startsWith(`${message.id} `))
      .map((each) => each.slice(message.id.length + 1)),
  );
  const view = {
    first: !follows(messages[index - 1], message),
    last: !follows(message, messages[index + 1]),
    named: chat.type !== "private",
    replied: message.reply_to ? messages.find((each) => each.id === message.reply_to) : null,
    ticks: tickOf(store, message),
    workflow: message.update_id === "0" ? null : workflowLink(store.bot.id, message.update_id),
    silent: chat.state !== "open",
    pressed,
    press: (target, data) => actions.press(target, data),
  };
  const replied = view.replied ? `${view.replied.deleted ?? ""}${view.replied.edited?.length ?? 0}` : "";
  const sign = [
    message.edited?.length,
    message.deleted,
    view.first,
    view.last,
    view.ticks,
    view.silent,
    replied,
    [...pressed].join(","),
  ].join("|");
  return {
    key: `message ${message.chat_id} ${message.seq}`,
    sign,
    time: message.time,
    build: () => bubble(message, view),
  };
}

// timeline mixes messages, notes and day lines in order of time.
function timeline(store, actions, chat) {
  const entries = store.messages.map((_, index) => messageItem(store, actions, chat, index));
  const from = store.hasOlder ? (store.messages[0]?.time ?? "") : "";
  for (const note of store.notes) {
    if (from && instant(note.time) < instant(from)) continue;
    entries.push({
      key: note.key,
      sign: `${note.text}|${note.count}`,
      time: note.time,
      build: () => noteLine(note),
    });
  }
  if (store.notes.length > 0) entries.sort((a, b) => instant(a.time) - instant(b.time));
  const items = [];
  let day = "";
  for (const entry of entries) {
    if (dayOf(entry.time) !== day) {
      day = dayOf(entry.time);
      items.push({ key: `day ${day}`, sign: new Date().toDateString(), build: () => dayLine(entry.time) });
    }
    items.push(entry);
  }
  return items;
}

function emptyHint(actions) {
  return [
    h("p", {}, "Write to your bot: say ", h("code", {}, "/start")),
    h(
      "button",
      { class: "plain-button primary", type: "button", onclick: () => actions.send("/start") },
      "Send /start",
    ),
  ];
}

// topOf is where a message is on the screen, found by its id, as drawing may have
// replaced its element.
function topOf(id, otherwise) {
  return byId("messages").querySelector(`[data-message="${id}"]`)?.getBoundingClientRect().top ?? otherwise;
}

// keepPlace runs a change of the messages and leaves the reader where they were:
// at the end when they were there, else at the same message.
function keepPlace(store, scroll, other, change) {
  const first = byId("messages").querySelector("[data-message]");
  const offset = first?.getBoundingClientRect().top ?? 0;
  change();
  if (other || store.atEnd) scroll.scrollTop = scroll.scrollHeight;
  else if (first) scroll.scrollTop += topOf(first.dataset.message, offset) - offset;
}

function toEnd(store) {
  const button = byId("to-end");
  show(button, !store.atEnd);
  setText(button.querySelector("span"), store.unseen > 0 ? `${store.unseen} new` : "");
  button.setAttribute(
    "aria-label",
    store.unseen > 0 ? `${store.unseen} new messages, go to the end` : "Go to the end",
  );
}

function watchScroll(store, scroll) {
  const update = () => {
    const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < nearEnd;
    if (atEnd === store.atEnd) return;
    store.atEnd = atEnd;
    if (atEnd) store.unseen = 0;
    store.changed();
  };
  scroll.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(() => {
    if (store.atEnd) scroll.scrollTop = scroll.scrollHeight;
  }).observe(scroll);
  byId("to-end").addEventListener("click", () =>
    scroll.scrollTo({ top: scroll.scrollHeight, behavior: "instant" }),
  );
}

export function mountTalk(store, actions) {
  const scroll = byId("scroll");
  let shown = "";
  byId("older").addEventListener("click", () => actions.older());
  byId("talk-block").addEventListener("click", () => {
    const chat = store.chat();
    const leave = chat.type === "private" ? "block" : "kick";
    actions.act(chat.state === "open" ? leave : "unblock");
  });
  byId("talk-empty").append(...emptyHint(actions));
  watchScroll(store, scroll);
  store.subscribe(() => {
    const chat = store.chat();
    if (!chat) return;
    header(store, chat);
    const other = shown !== chat.id;
    shown = chat.id;
    keepPlace(store, scroll, other, () => {
      show(byId("older"), store.hasOlder);
      show(
        byId("talk-empty"),
        store.loaded && store.messages.length === 0 && store.notes.length === 0 && !chat.last,
      );
      reconcile(byId("messages"), timeline(store, actions, chat));
    });
    toEnd(store);
  });
}
