// What a person can do, and what it does to the store and the simulator.

import { api } from "./api.js";
import { byId, h } from "./dom.js";
import { talkIsVisible } from "./view.js";

const answerWait = 10000;

export class Actions {
  #reading = 0;
  #loadingOlder = false;

  constructor(store, beat) {
    this.store = store;
    this.beat = beat; // asks for a fresh pulse soon
  }

  // run shows the error of a call instead of throwing it.
  async run(work) {
    try {
      return await work();
    } catch (error) {
      const line = h("p", {}, error.message);
      byId("errors").append(line);
      setTimeout(() => line.remove(), 6000);
      return undefined;
    } finally {
      this.beat();
    }
  }

  // load reads the whole state and resolves to the event number it holds.
  async load() {
    const { store } = this;
    let state = await api.state();
    if (state.chats.length === 0) {
      await api.createChat({ name: "Ada", username: "ada" });
      state = await api.state();
    }
    store.bot = state.bot;
    store.chats = new Map(state.chats.map((chat) => [chat.id, chat]));
    store.loaded = true;
    await this.#show(this.#choice());
    return state.event_seq;
  }

  // #choice is the chat to show: the one that is open, the one in the address,
  // or the one that spoke last.
  #choice() {
    const { chats, open } = this.store;
    const asked = location.hash.slice(1);
    if (chats.has(open)) return open;
    if (chats.has(asked)) return asked;
    const seq = (chat) => chat.last?.seq ?? 0;
    return [...chats.values()].reduce((best, chat) => (seq(chat) > seq(best) ? chat : best)).id;
  }

  open(id) {
    if (id === this.store.open) return undefined;
    return this.run(() => this.#show(id));
  }

  async #show(id) {
    const { store } = this;
    const other = store.open !== id;
    store.open = id;
    if (other) Object.assign(store, { messages: [], notes: [], hasOlder: false, unseen: 0, atEnd: true });
    store.changed();
    history.replaceState(null, "", `${location.pathname}${location.search}#${id}`);
    const messages = await api.messages(id);
    if (store.open !== id) return;
    store.messages = messages;
    store.hasOlder = messages.length === 200;
    this.read();
    store.changed();
  }

  async older() {
    const { store } = this;
    if (this.#loadingOlder || !store.hasOlder || store.messages.length === 0) return;
    this.#loadingOlder = true;
    const chat = store.open;
    const older = await this.run(() => api.messages(chat, `&before=${store.messages[0].id}`));
    this.#loadingOlder = false;
    if (!older || store.open !== chat) return;
    store.messages = [...older, ...store.messages];
    store.hasOlder = older.length === 200;
    store.changed();
  }

  // read tells the simulator that the open chat was seen, at most twice a second.
  read() {
    const chat = this.store.chat();
    if (!chat || document.hidden || !talkIsVisible()) return;
    if (chat.unread > 0) this.store.changed();
    chat.unread = 0;
    if (this.#reading) return;
    this.#reading = setTimeout(() => {
      this.#reading = 0;
      api.act(this.store.open, "read").catch(() => {});
    }, 500);
  }

  send(text, from) {
    return this.run(async () => (await api.send(this.store.open, text, from)).update_id);
  }

  press(message, data) {
    const { store } = this;
    const key = `${message.id} ${data}`;
    store.presses.set(key, Date.now());
    store.changed();
    setTimeout(() => store.presses.delete(key) && store.changed(), answerWait);
    return this.run(async () => {
      const { update_id: update } = await api.press(message.chat_id, message.id, data);
      if (update !== "0") return update;
      store.presses.delete(key);
      store.changed();
      throw new Error("Not queued: the bot does not ask for button presses.");
    });
  }

  act(action, id = this.store.open) {
    return this.run(() => api.act(id, action));
  }

  startPenalty(scope, seconds) {
    return api.penalise(scope, seconds);
  }

  endPenalty(scope) {
    return api.penalise(scope, 0);
  }

  async migrate() {
    const moved = await this.run(() => api.act(this.store.open, "migrate"));
    if (moved) await this.open(moved.id);
  }

  // createPerson finds the private chat of a name, or makes one.
  async createPerson(name, username = "") {
    const known = this.store.people().find((chat) => chat.title === name && !username);
    return known ?? api.createChat({ name, username });
  }
}
