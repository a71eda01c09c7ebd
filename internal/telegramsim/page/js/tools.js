// What can happen to the open chat.

import { byId, h, reconcile } from "./dom.js";

function toolsOf(chat, store, actions) {
  const isPrivate = chat.type === "private";
  const penalised = store.penalties.get(chat.id) > store.now();
  const list = [];
  if (chat.state === "open")
    list.push(
      isPrivate
        ? ["Block the bot", () => actions.act("block")]
        : ["Remove the bot", () => actions.act("kick")],
    );
  else if (chat.state !== "migrated")
    list.push([isPrivate ? "Unblock the bot" : "Let the bot in", () => actions.act("unblock")]);
  if (isPrivate && chat.state !== "deactivated")
    list.push(["Delete the account", () => actions.act("deactivate")]);
  if (chat.type === "group" && chat.state !== "migrated")
    list.push(["Make it a supergroup", () => actions.migrate()]);
  list.push(
    penalised
      ? ["End the penalty", () => actions.run(() => actions.endPenalty(chat.id))]
      : ["Penalty for 30 s", () => actions.run(() => actions.startPenalty(chat.id, 30))],
  );
  return list;
}

export function mountTools(store, actions) {
  store.subscribe(() => {
    const chat = store.chat();
    if (!chat) return;
    const items = toolsOf(chat, store, actions).map(([title, act]) => ({
      key: title,
      sign: chat.id,
      build: () =>
        h("button", { class: "plain-button", type: "button", "data-focus": title, onclick: act }, title),
    }));
    reconcile(byId("chat-tools"), items);
  });
}
