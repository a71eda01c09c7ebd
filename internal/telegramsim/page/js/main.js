// Puts the page together: the store, the stream that feeds it, the views.

import { Actions } from "./actions.js";
import { mountChats } from "./chats.js";
import { mountComposer } from "./composer.js";
import { mountDialog } from "./dialog.js";
import { byId, show } from "./dom.js";
import { apply } from "./events.js";
import { mountFaults } from "./faults.js";
import { mountFlood } from "./flood.js";
import { mountHealth } from "./health.js";
import { mountLimits } from "./limits.js";
import { mountLog } from "./log.js";
import { notice } from "./notices.js";
import { Pulse } from "./pulse.js";
import { Store } from "./store.js";
import { Stream } from "./stream.js";
import { mountTalk } from "./talk.js";
import { mountTemporal } from "./temporal.js";
import { mountTicker } from "./ticker.js";
import { mountTools } from "./tools.js";
import { currentView, go } from "./view.js";

const store = new Store();
const pulse = new Pulse(store);
const actions = new Actions(store, () => pulse.soon());

// Changes that show in the pulse only: ask for it at once.
const urgent = new Set(["fault", "rate_limited", "flood", "message", "answer"]);

function took(event) {
  apply(store, event);
  if (event.type === "answer") {
    store.presses.clear();
    if (event.text) notice(event.text, event.alert);
  }
  if (event.type === "message" && event.chat_id === store.open) actions.read();
  if (event.type === "chat" && event.chat?.id === store.open && event.chat.state === "migrated")
    actions.open(event.chat.moved_to);
  if (urgent.has(event.type)) pulse.soon();
  store.changed();
}

const stream = new Stream({
  load: () => actions.load(),
  event: took,
  lost: () => show(byId("link"), true),
  back: () => show(byId("link"), false),
});

for (const mount of [
  mountChats,
  mountTalk,
  mountComposer,
  mountHealth,
  mountFaults,
  mountFlood,
  mountLimits,
  mountTools,
  mountLog,
  mountDialog,
]) {
  mount(store, actions);
}
mountTemporal();
mountTicker(store);

for (const button of document.querySelectorAll("[data-go]")) {
  button.addEventListener("click", () => {
    go(button.dataset.go);
    actions.read();
  });
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && currentView() === "lab" && !document.querySelector("dialog[open]"))
    go("talk");
});
document.addEventListener("visibilitychange", () => document.hidden || actions.read());

pulse.start();
stream.start();
