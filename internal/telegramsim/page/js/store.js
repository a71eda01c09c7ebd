// What the page knows. Views read it and are told of changes once per frame, so
// that a flood of events costs one drawing, not thousands.

import { instant } from "./format.js";

const windowSize = 300;

const maxNotes = 60;

export class Store {
  bot = { id: "", username: "", name: "" };
  chats = new Map();
  penalties = new Map(); // scope ("0" is the bot) to its end in ms
  faults = [];
  limits = null;
  flood = { running: false, sent: 0, updates: 0 };
  pulse = null; // the last answer of /sim/api/pulse
  rates = []; // {all, limited} of each of the last 60 seconds, oldest first
  loaded = false;

  open = ""; // the chat that is shown
  messages = []; // its newest messages, oldest first
  hasOlder = false;
  unseen = 0; // messages that came while it was scrolled up
  atEnd = true; // whether it is scrolled to its end
  notes = []; // things that happened in it and are no messages
  presses = new Map(); // "message data" of pressed buttons that wait for an answer

  skew = 0; // the simulator's clock minus ours, in ms
  #views = [];
  #frame = 0;

  subscribe(view) {
    this.#views.push(view);
  }

  changed() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      for (const view of this.#views) view(this);
    });
  }

  now() {
    return Date.now() + this.skew;
  }

  chat(id = this.open) {
    return this.chats.get(id);
  }

  // penaltyOf is the end of the longest penalty that holds in a chat, or 0.
  penaltyOf(chat) {
    const end = Math.max(this.penalties.get(chat) ?? 0, this.penalties.get("0") ?? 0);
    return end > this.now() ? end : 0;
  }

  // people are those who can write in groups: every private chat is one.
  people() {
    return [...this.chats.values()].filter((chat) => chat.type === "private").slice(0, 100);
  }

  // upsert puts a message of the open chat in its place. Returns whether it is new.
  upsert(message) {
    const list = this.messages;
    const at = list.findLastIndex((each) => each.seq <= message.seq);
    if (list[at]?.seq === message.seq) {
      list[at] = message;
      return false;
    }
    list.splice(at + 1, 0, message);
    this.#trim();
    return true;
  }

  // A person who reads old messages keeps them; at the end old ones may go.
  #trim() {
    if (!this.atEnd || this.messages.length <= windowSize + 50) return;
    this.messages.splice(0, this.messages.length - windowSize);
    this.hasOlder = true;
  }

  // note adds a line to the open conversation. The same kind again counts up.
  note(kind, text, time) {
    const last = this.notes.at(-1);
    const spoken = this.messages.at(-1)?.time;
    if (last?.kind === kind && !(spoken && instant(spoken) > instant(last.time))) {
      Object.assign(last, { text, count: last.count + 1 });
      return;
    }
    this.notes.push({ kind, text, time, count: 1, key: `note ${time} ${kind}` });
    this.notes.splice(0, this.notes.length - maxNotes);
  }
}
