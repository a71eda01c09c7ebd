// Answers to button presses, shown over the conversation as Telegram shows them.

import { byId, h } from "./dom.js";

const life = 4000;

export function notice(text, alert) {
  const line = h("p", { class: alert ? "notice alert" : "notice" }, h("span", {}, text));
  if (alert) {
    line.append(h("button", { class: "plain-button", type: "button", onclick: () => line.remove() }, "OK"));
  } else {
    setTimeout(() => line.remove(), life);
  }
  byId("notices").append(line);
}
