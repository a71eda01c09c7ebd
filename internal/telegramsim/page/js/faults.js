// Faults as switches in plain words.

import { api } from "./api.js";
import { byId, h, icon, reconcile, setText, show } from "./dom.js";
import { plural } from "./format.js";

const penaltySeconds = 10;

// usual is how many switches are shown at first.
const usual = 6;

// choices are the switches. A fault belongs to the switch whose kind and status
// it has; "penalty" is no fault of the simulator but a penalty set by hand.
const choices = [
  { key: "status", title: "Answer 502 before accepting", fault: { kind: "status", status: 502 } },
  { key: "reset", title: "Accept, then cut the connection", fault: { kind: "reset" } },
  { key: "penalty", title: `429 for ${penaltySeconds} s` },
  { key: "hang", title: "Hang: never answer", fault: { kind: "hang" } },
  { key: "delay", title: "Slow answers (2 s)", fault: { kind: "delay", wait_ms: 2000 } },
  { key: "status_after", title: "Accept, then answer 502", fault: { kind: "status_after", status: 502 } },
  { key: "refuse", title: "Cut the connection before accepting", fault: { kind: "refuse" } },
  { key: "half_body", title: "Send half of the answer", fault: { kind: "half_body" } },
  { key: "garbage", title: "Answer with a web page", fault: { kind: "garbage" } },
  {
    key: "unauthorized",
    title: "Answer 401, as for a wrong token",
    fault: {
      kind: "status",
      status: 401,
      body: '{"ok":false,"error_code":401,"description":"Unauthorized"}',
    },
  },
];

const belongs = (choice, fault) =>
  choice.fault?.kind === fault.kind && (choice.fault.status ?? 0) === (fault.status ?? 0);

const isPoll = (fault) => fault.method.toLowerCase() === "getupdates";

// scopeOf is where a fault holds, as the select "Where" spells it.
function inScope(store, scope, fault) {
  if (scope === "poll") return isPoll(fault);
  const chat = scope === "chat" ? store.open : "0";
  return !fault.method && fault.chat_id === chat;
}

function where(store, fault) {
  if (isPoll(fault)) return "polling";
  const chat = fault.chat_id === "0" ? "all chats" : (store.chats.get(fault.chat_id)?.title ?? fault.chat_id);
  return fault.method ? `${fault.method}, ${chat}` : chat;
}

function usage(fault) {
  const hits = fault.hits === 0 ? "" : plural(fault.hits, "hit");
  const rest = fault.times > 0 ? `${fault.times - fault.hits} left` : "";
  return [hits, rest].filter(Boolean).join(", ");
}

async function switchOn(store, choice) {
  const scope = byId("fault-scope").value;
  const chat = scope === "chat" ? store.open : "0";
  if (!choice.fault) return api.penalise(chat, penaltySeconds);
  return api.addFault({
    ...choice.fault,
    method: scope === "poll" ? "getUpdates" : "",
    chat_id: chat,
    times: Number(byId("fault-times").value),
  });
}

// A request that hangs goes on hanging when its fault is removed; only clearing
// all faults lets go of it.
async function switchOff(store, choice, faults) {
  if (!choice.fault) return api.penalise(byId("fault-scope").value === "chat" ? store.open : "0", 0);
  if (faults.length === store.faults.length) return api.clearFaults();
  return Promise.all(faults.map((fault) => api.removeFault(fault.id)));
}

function switchItem(store, actions, choice) {
  const scope = byId("fault-scope").value;
  const faults = store.faults.filter((fault) => belongs(choice, fault) && inScope(store, scope, fault));
  const end = choice.fault ? 0 : (store.penalties.get(scope === "chat" ? store.open : "0") ?? 0);
  const on = faults.length > 0 || end > store.now();
  const useless = !choice.fault && scope === "poll";
  const note = faults.length > 0 ? usage(faults[0]) : "";
  const toggle = () => actions.run(() => (on ? switchOff(store, choice, faults) : switchOn(store, choice)));
  return {
    key: choice.key,
    sign: `${on}|${note}|${end}|${useless}|${faults.map((fault) => fault.id).join()}`,
    build: () =>
      h(
        "li",
        {},
        h(
          "button",
          {
            class: "switch",
            type: "button",
            role: "switch",
            "aria-checked": String(on),
            disabled: useless,
            "data-focus": `switch ${choice.key}`,
            "data-fault": choice.key,
            onclick: toggle,
          },
          h("span", { class: "switch-title" }, choice.title),
          note ? h("span", { class: "switch-note" }, note) : null,
          on && end ? h("span", { class: "switch-note ticking", "data-until": end }) : null,
          h("span", { class: "knob", "aria-hidden": "true" }),
        ),
      ),
  };
}

// elsewhere lists faults that no switch shows at the moment.
function elsewhere(store, actions, visible) {
  const scope = byId("fault-scope").value;
  const seen = (fault) => inScope(store, scope, fault) && visible.some((choice) => belongs(choice, fault));
  return store.faults
    .filter((fault) => !seen(fault))
    .map((fault) => ({
      key: String(fault.id),
      sign: `${where(store, fault)}|${usage(fault)}`,
      build: () => {
        const title =
          choices.find((choice) => belongs(choice, fault))?.title ?? `${fault.kind} ${fault.status || ""}`;
        return h(
          "li",
          {},
          h(
            "span",
            {},
            h("b", {}, title),
            ` \u00b7 ${[where(store, fault), usage(fault)].filter(Boolean).join(" \u00b7 ")}`,
          ),
          h(
            "button",
            {
              class: "icon-button small",
              type: "button",
              "aria-label": `Switch off: ${title}`,
              "data-focus": `off ${fault.id}`,
              onclick: () => actions.run(() => api.removeFault(fault.id)),
            },
            icon("close"),
          ),
        );
      },
    }));
}

export function mountFaults(store, actions) {
  byId("fault-scope").addEventListener("change", () => store.changed());
  byId("fault-clear").addEventListener("click", () => actions.run(() => api.clearFaults()));
  const more = byId("fault-more");
  let expanded = false;
  more.addEventListener("click", () => {
    expanded = !expanded;
    more.ariaExpanded = String(expanded);
    store.changed();
  });
  store.subscribe(() => {
    const visible = expanded ? choices : choices.slice(0, usual);
    setText(more, expanded ? "Fewer faults" : `${choices.length - usual} more faults`);
    reconcile(
      byId("fault-list"),
      visible.map((choice) => switchItem(store, actions, choice)),
    );
    reconcile(byId("fault-active"), elsewhere(store, actions, visible));
    show(byId("fault-clear"), store.faults.length > 1);
    show(byId("fault-count"), store.faults.length > 0);
    setText(byId("fault-count"), `${store.faults.length} on`);
  });
}
