// Where a person writes: as the user of a private chat, or as one of the people
// of a group.

import { byId, h, reconcile, setText, show } from "./dom.js";
import { stateWords } from "./format.js";
import { recall, remember } from "./memory.js";

const tallest = 180;

function grow(text) {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight, tallest)}px`;
}

const senderSlot = (chat) => `sender ${chat}`;

export function rememberSender(chat, person) {
  remember(senderSlot(chat), person);
}

// senders fills the choice of who writes in a group.
function senders(store, chat) {
  const select = byId("sender");
  const people = chat.type === "private" ? [] : store.people();
  show(byId("sender-label"), people.length > 0);
  const kept = recall(senderSlot(chat.id));
  const before = `${chat.id} ${people.map((person) => person.id).join(" ")}`;
  if (select.dataset.people === before) return;
  select.dataset.people = before;
  select.replaceChildren(
    ...people.map((person) => h("option", { value: person.id, selected: person.id === kept }, person.title)),
  );
}

// stopped replaces the composer where writing needs a decision first.
function stopped(store, chat) {
  const words = {
    blocked: [`${chat.title} blocked the bot. Its messages get 403.`, "Unblock bot"],
    deactivated: ["This account is deleted. Messages to it get 403.", "Bring the account back"],
    kicked: ["The bot was removed. Its messages get 403.", "Let the bot in"],
    migrated: ["This group became a supergroup.", "Go there"],
  }[chat.state];
  show(byId("stopped"), Boolean(words));
  show(byId("composer"), !words);
  if (!words) return;
  setText(byId("stopped").querySelector("p"), words[0]);
  setText(byId("stopped").querySelector("button"), words[1]);
}

// replyKeyboard is the keyboard the bot showed last, unless it took it away.
function replyKeyboard(store, chat) {
  if (chat.state !== "open") return [];
  const message = store.messages.findLast(
    (each) => each.from_bot && !each.deleted && (each.markup?.keyboard || each.markup?.remove_keyboard),
  );
  return Array.isArray(message?.markup.keyboard) ? message.markup.keyboard.flat().slice(0, 24) : [];
}

function suggestions(store, actions, chat) {
  const buttons = replyKeyboard(store, chat).map((button) => String(button?.text ?? button));
  show(byId("replies"), buttons.length > 0);
  reconcile(
    byId("replies"),
    buttons.map((label, index) => ({
      key: `${index}`,
      sign: label,
      build: () =>
        h(
          "button",
          {
            class: "key",
            type: "button",
            "data-focus": `reply ${index}`,
            onclick: () => actions.send(label, sender()),
          },
          label,
        ),
    })),
  );
}

const sender = () => (byId("sender-label").hidden ? "" : byId("sender").value);

async function submit(actions, text) {
  const words = text.value.trim();
  if (!words) return;
  text.value = "";
  grow(text);
  const update = await actions.send(words, sender());
  if (update === undefined && !text.value) {
    text.value = words;
    grow(text);
  }
}

export function mountComposer(store, actions) {
  const form = byId("composer");
  const text = byId("text");
  text.addEventListener("input", () => grow(text));
  // The line break is what is stopped, not the key: keyboards of phones and
  // input methods send breaks without a key worth looking at.
  let shift = false;
  text.addEventListener("keydown", (event) => {
    shift = event.shiftKey;
  });
  text.addEventListener("beforeinput", (event) => {
    if (event.inputType !== "insertLineBreak" || shift || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(actions, text);
  });
  byId("sender").addEventListener("change", (event) => rememberSender(store.open, event.target.value));
  byId("stopped")
    .querySelector("button")
    .addEventListener("click", () => {
      const chat = store.chat();
      if (chat.state === "migrated") actions.open(chat.moved_to);
      else actions.act("unblock");
    });
  store.subscribe(() => {
    const chat = store.chat();
    if (!chat) return;
    text.placeholder =
      stateWords(chat.state) && chat.state === "never_started"
        ? "Write to start the bot"
        : "Write to your bot";
    senders(store, chat);
    stopped(store, chat);
    suggestions(store, actions, chat);
  });
}
