// A crowd that writes to the bot.

import { api } from "./api.js";
import { byId, setText } from "./dom.js";

export function mountFlood(store, actions) {
  const form = byId("flood");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (store.flood.running) {
      actions.run(() => api.stopFlood());
      return;
    }
    const value = (name) => Number(form.elements[name].value);
    actions.run(() =>
      api.startFlood({ updates: value("updates"), chats: value("chats"), per_second: value("per_second") }),
    );
  });
  store.subscribe(() => {
    const { running, sent, updates } = store.flood;
    const button = form.querySelector("button");
    setText(button, running ? "Stop the flood" : "Start a flood");
    button.formNoValidate = running;
    byId("flood-bar").value = updates > 0 ? sent / updates : 0;
    setText(byId("flood-text"), updates > 0 ? `${sent} of ${updates}` : "");
  });
}
