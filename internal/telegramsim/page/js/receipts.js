// Which update a text of this page became. The simulator tells it once, in the
// answer to "send"; the page remembers it across reloads.

import { recall, remember } from "./memory.js";

const kept = 400;

export class Receipts {
  #known = new Map(); // "chat/message" to {update, time}
  #awaiting = []; // {chat, text, since, update}
  #slot = "";

  // restore reads what an earlier visit remembered about this bot.
  restore(bot) {
    if (this.#slot) return;
    this.#slot = `receipts ${bot}`;
    try {
      this.#known = new Map(JSON.parse(recall(this.#slot) ?? "[]"));
    } catch {
      this.#known = new Map();
    }
  }

  // sent notes that a text was queued as an update; "0" is "was not queued".
  sent(chat, text, since, update) {
    this.#awaiting.push({ chat, text, since, update });
    this.#awaiting.splice(0, this.#awaiting.length - 20);
  }

  // match finds the messages of texts that were sent.
  match(messages) {
    this.#awaiting = this.#awaiting.filter((receipt) => {
      const message = messages.find((each) => this.#fits(each, receipt));
      if (message) this.#keep(message, receipt.update);
      return !message;
    });
  }

  // of is the update id of a message, or undefined. The time tells messages of
  // another run of the simulator apart.
  of(message) {
    const receipt = this.#known.get(`${message.chat_id}/${message.id}`);
    return receipt?.time === message.time ? receipt.update : undefined;
  }

  #fits(message, { chat, text, since }) {
    const same = !message.from_bot && message.chat_id === chat && message.text === text;
    return same && Date.parse(message.time) >= since && this.of(message) === undefined;
  }

  #keep(message, update) {
    this.#known.set(`${message.chat_id}/${message.id}`, { update, time: message.time });
    const surplus = [...this.#known.keys()].slice(0, Math.max(0, this.#known.size - kept));
    for (const key of surplus) this.#known.delete(key);
    remember(this.#slot, JSON.stringify([...this.#known]));
  }
}
