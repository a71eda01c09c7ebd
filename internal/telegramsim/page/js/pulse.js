// The pulse of the simulator: asked for every second, and soon after something
// happened that shows in it.

import { api } from "./api.js";

const period = 1000;
const shortest = 150;

export class Pulse {
  #timer = 0;
  #due = 0;
  #asking = false;
  #again = false;

  constructor(store) {
    this.store = store;
  }

  start() {
    this.#at(0);
  }

  soon() {
    if (this.#due - performance.now() > shortest) this.#at(shortest);
  }

  #at(wait) {
    clearTimeout(this.#timer);
    this.#due = performance.now() + wait;
    this.#timer = setTimeout(() => this.#beat(), wait);
  }

  async #beat() {
    this.#again = this.#asking;
    if (this.#asking) return;
    this.#asking = true;
    const pulse = await api.pulse().catch(() => null);
    this.#asking = false;
    this.#at(this.#again ? shortest : this.store.flood.running ? period / 3 : period);
    if (!pulse) return;
    this.#take(pulse);
    this.store.changed();
  }

  #take(pulse) {
    const { store } = this;
    store.pulse = pulse;
    store.skew = Date.parse(pulse.now) - Date.now();
    store.penalties = new Map(pulse.penalties.map((penalty) => [penalty.chat_id, Date.parse(penalty.until)]));
    store.faults = pulse.faults;
    store.limits = pulse.limits;
    store.flood = pulse.flood;
    store.rates = pulse.rates;
  }
}
