// Countdowns: every element with data-until (ms, the simulator's clock) shows
// what is left of its span.

import { setText } from "./dom.js";
import { left } from "./format.js";

const period = 200;

export function mountTicker(store) {
  const tick = () => {
    for (const node of document.querySelectorAll("[data-until]"))
      setText(node, left(Number(node.dataset.until) - store.now()));
  };
  setInterval(tick, period);
  store.subscribe(tick);
}
