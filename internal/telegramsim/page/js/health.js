// The bot at a glance: is it there, how busy, how often told to wait.

import { byId, h, icon, reconcile, setText, svg } from "./dom.js";
import { count, left } from "./format.js";

const freshPoll = 15000;
const bars = 60;

// hostOf leaves out the path, which may be a secret.
function hostOf(address) {
  return address.replace(/^\w+:\/\//, "").split(/[/?#]/)[0].split("@").pop();
}

function botState(store) {
  const { pulse } = store;
  if (!pulse) return ["idle", "Loading"];
  if (pulse.webhook) return ["ok", `Webhook at ${hostOf(pulse.webhook)}, ${count(pulse.pending)} waiting`];
  const last = pulse.last_poll ? Date.parse(pulse.last_poll) : 0;
  if (pulse.polling || store.now() - last < freshPoll) return ["ok", "Bot connected"];
  if (!last) return ["idle", "No bot yet"];
  return ["bad", `No poll for ${left(store.now() - last)}`];
}

function tile(id, value, tone) {
  setText(byId(id), count(value));
  byId(id).className = tone;
}

// spark draws a bar per second: all requests, and over them the 429s.
function spark(store) {
  const { rates } = store;
  const top = Math.max(4, ...rates.map((rate) => rate.all));
  const drawing = byId("spark");
  if (drawing.childElementCount === 0) {
    for (let i = 0; i < bars; i += 1) {
      const at = { x: i * 4 + 0.5, width: 3, y: 35, height: 1 };
      drawing.append(
        svg("rect", { ...at, class: "bar-all" }),
        svg("rect", { ...at, height: 0, class: "bar-429" }),
      );
    }
  }
  const bar = (node, value, least) => {
    const height = Math.max(least, (value / top) * 34);
    node.setAttribute("height", height);
    node.setAttribute("y", 36 - height);
  };
  for (let i = 0; i < bars; i += 1) {
    const rate = rates[i];
    bar(drawing.children[i * 2], rate.all, 1);
    bar(drawing.children[i * 2 + 1], rate.limited, 0);
  }
}

function penaltyItems(store, actions) {
  const current = [...store.penalties].filter(([, end]) => end > store.now()).sort((a, b) => a[1] - b[1]);
  return current.slice(0, 20).map(([scope, end]) => ({
    key: scope,
    sign: String(end),
    build: () =>
      h(
        "li",
        {},
        icon("clock"),
        h(
          "span",
          { class: "penalty-who" },
          scope === "0" ? "Whole bot" : (store.chats.get(scope)?.title ?? scope),
        ),
        h("span", { class: "ticking", "data-until": end }),
        h(
          "button",
          {
            class: "quiet-button",
            type: "button",
            "data-focus": `end ${scope}`,
            onclick: () => actions.run(() => actions.endPenalty(scope)),
          },
          "End",
        ),
      ),
  }));
}

export function mountHealth(store, actions) {
  store.subscribe(() => {
    const [tone, words] = botState(store);
    byId("bot-state").className = `bot-state ${tone}`;
    setText(byId("bot-state").querySelector(".bot-state-text"), words);
    reconcile(byId("penalties"), penaltyItems(store, actions));
    if (!store.pulse) return;
    const { pending, requests } = store.pulse;
    tile("rate", store.rates.at(-1)?.all ?? 0, "");
    tile("pending", pending, pending > 100 ? "warn" : "");
    tile("limited", requests.limited, requests.limited > 0 ? "warn" : "");
    tile("violations", requests.violations, requests.violations > 0 ? "bad" : "");
    spark(store);
  });
}
