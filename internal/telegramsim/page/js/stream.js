// The stream of events, with resume. Events that arrive while the state is being
// loaded wait, and those the state already holds are dropped.

const retryAfter = 1000;

export class Stream {
  #source = null;
  #held = null;
  #last = 0;
  #lost = false;
  #timer = 0;

  // handlers: load() resolves to the event number the loaded state holds,
  // event(e) takes one event, lost() and back() tell about the connection.
  constructor(handlers) {
    this.handlers = handlers;
  }

  async start() {
    if (await this.#reload()) this.#connect();
  }

  #connect() {
    this.#source = new EventSource(`/sim/api/events?after=${this.#last}`);
    this.#source.onopen = () => this.#opened();
    this.#source.onmessage = (message) => this.#take(JSON.parse(message.data));
    this.#source.onerror = () => this.#failed();
  }

  // A browser gives up on some errors and retries others in its own time; one
  // rule of ours is simpler: close, and open again after a second.
  #failed() {
    this.#source?.close();
    this.#lost = true;
    this.handlers.lost();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), retryAfter);
  }

  // After a break the simulator may be another one, whose event numbers mean
  // nothing to us. Its whole state is read again; resuming alone could mix them.
  #opened() {
    if (!this.#lost) return;
    this.#lost = false;
    this.handlers.back();
    this.#reload();
  }

  async #reload() {
    if (this.#held) return false;
    this.#held = [];
    const loaded = await this.handlers.load().catch(() => undefined);
    const held = this.#held;
    this.#held = null;
    if (loaded === undefined) {
      this.#failed();
      return false;
    }
    this.#last = loaded;
    for (const event of held) this.#take(event);
    return true;
  }

  #take(event) {
    if (event.type === "reset") {
      this.#reload();
      return;
    }
    if (this.#held) {
      this.#held.push(event);
      return;
    }
    if (event.seq <= this.#last) return;
    this.#last = event.seq;
    this.handlers.event(event);
  }
}
