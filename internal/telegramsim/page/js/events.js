// How events of the stream change the store.

import { plural } from "./format.js";
import { talkIsVisible } from "./view.js";

const kindWords = {
  refuse: "connection cut before accepting",
  status: "answered with an error before accepting",
  hang: "never answered",
  delay: "answer delayed",
  reset: "accepted, then the connection was cut",
  hang_after: "accepted, then never answered",
  status_after: "accepted, then answered with an error",
  half_body: "half of the answer sent",
  slow_body: "answer sent byte by byte",
  garbage: "answered with a web page",
  delay_after: "answer delayed",
};

// placeholder is a chat the page hears of by its first message.
function placeholder(event) {
  const id = event.chat_id;
  const type = !id.startsWith("-") ? "private" : BigInt(id) < -1000000000000n ? "supergroup" : "group";
  const title = type === "private" ? `User ${id}` : `Group ${id}`;
  return { id, type, title, state: "open", unread: 0 };
}

function ensure(store, event) {
  const known = store.chats.get(event.chat_id);
  if (known) return known;
  const made = placeholder(event);
  store.chats.set(made.id, made);
  return made;
}

function received(store, event) {
  const { message } = event;
  const chat = ensure(store, event);
  if (!chat.last || chat.last.seq <= message.seq) chat.last = message;
  const isOpen = store.open === chat.id;
  if (message.from_bot) {
    chat.typing_until = undefined;
    if (!isOpen || !talkIsVisible()) chat.unread += 1;
  } else {
    chat.unread = 0;
  }
  if (isOpen && store.upsert(message) && !store.atEnd) store.unseen += 1;
}

function replaced(store, event) {
  const { message } = event;
  const chat = ensure(store, event);
  if (chat.last?.seq === message.seq) chat.last = message;
  const shown = store.messages.some((each) => each.seq === message.seq);
  if (store.open === chat.id && shown) store.upsert(message);
}

function chatChanged(store, event) {
  const known = store.chats.get(event.chat.id);
  const { unread = 0, last, typing_until } = known ?? {};
  store.chats.set(event.chat.id, { ...event.chat, unread, last, typing_until });
}

function penalty(store, event) {
  if (event.until) store.penalties.set(event.chat_id, Date.parse(event.until));
  else store.penalties.delete(event.chat_id);
}

function noteIfOpen(store, event, kind, text) {
  if (store.open === event.chat_id) store.note(kind, text, event.time);
}

const reducers = {
  message: received,
  user: received,
  edited: replaced,
  deleted: replaced,
  chat: chatChanged,
  penalty,
  typing: (store, event) => {
    ensure(store, event).typing_until = event.until;
  },
  press: (store, event) => noteIfOpen(store, event, `press ${event.seq}`, `Button pressed: ${event.text}`),
  rate_limited: (store, event) =>
    noteIfOpen(
      store,
      event,
      "limited",
      `429 to ${event.method}: retry after ${plural(event.retry_after, "second")}`,
    ),
  fault: (store, event) =>
    noteIfOpen(store, event, `fault ${event.kind}`, `Fault on ${event.method}: ${kindWords[event.kind]}`),
};

// apply changes the store by one event.
export function apply(store, event) {
  reducers[event.type]?.(store, event);
}
