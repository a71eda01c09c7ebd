// The bot's requests, newest first.

import { byId, h, icon, reconcile, setText, show } from "./dom.js";
import { secondOf } from "./format.js";

const rows = 80;

function status(request) {
  if (request.status)
    return [
      String(request.status),
      request.status < 300
        ? "ok"
        : request.status === 429
          ? "warn"
          : request.status < 500
            ? "refused"
            : "bad",
    ];
  if (request.hung) return ["left", "bad"];
  if (request.answered) return ["cut", "bad"];
  return [isPoll(request) ? "waits" : "open", "idle"];
}

const isPoll = (request) => request.method.toLowerCase() === "getupdates";

function explain(request) {
  const took = request.answered
    ? `${Date.parse(request.answered) - Date.parse(request.arrived)} ms`
    : "still open";
  const parts = [
    took,
    request.retry_after && `retry after ${request.retry_after} s`,
    request.violation && "sent although a penalty was known",
    request.fault && "hit by a fault",
    request.overlapped && "two polls at once",
  ];
  return parts.filter(Boolean).join(", ");
}

function row(store, request) {
  const [words, tone] = status(request);
  const chat = request.chat_id ? (store.chats.get(request.chat_id)?.title ?? request.chat_id) : "";
  return h(
    "li",
    { title: explain(request) },
    h("time", {}, secondOf(request.arrived)),
    h("span", { class: "log-method" }, request.method),
    h("span", { class: "log-chat" }, chat),
    request.fault
      ? icon("lab", "Hit by a fault")
      : request.violation
        ? icon("warn", "Sent although a penalty was known")
        : null,
    h("span", { class: `status ${tone}` }, words),
  );
}

export function mountLog(store) {
  byId("log-polls").addEventListener("change", () => store.changed());
  store.subscribe(() => {
    const polls = byId("log-polls").checked;
    const list = (store.pulse?.log ?? [])
      .filter((request) => polls || !isPoll(request))
      .slice(-rows)
      .reverse();
    reconcile(
      byId("log"),
      list.map((request) => ({
        key: `${request.seq} ${request.arrived}`,
        sign: `${request.status}|${request.answered}|${request.violation}|${request.hung}`,
        build: () => row(store, request),
      })),
    );
    show(byId("log-empty"), list.length === 0);
    setText(
      byId("log-empty"),
      store.pulse?.last_poll || store.pulse?.polling || store.pulse?.webhook
        ? "What your bot asks of Telegram shows up here."
        : `No bot polls yet. Give one ${location.origin} as its Bot API address.`,
    );
  });
}
