// One message of a conversation.

import { h, icon } from "./dom.js";
import { dayName, hourOf, hue, methodNoun, preview, secondOf, serviceText, size } from "./format.js";

const skipped = new Set([
  "chat_id",
  "caption",
  "text",
  "reply_markup",
  "reply_parameters",
  "parse_mode",
  "reply_to_message_id",
  "caption_entities",
  "entities",
  "disable_notification",
  "message_thread_id",
]);

export const dayLine = (time) => h("p", { class: "day" }, h("span", {}, dayName(time)));

export function noteLine(note) {
  const kind = note.kind.split(" ")[0];
  return h(
    "p",
    { class: `note ${kind}`, title: secondOf(note.time) },
    icon(kind === "press" ? "tick" : "warn"),
    h("span", {}, note.count > 1 ? `${note.text} (${note.count} times)` : note.text),
  );
}

function quote(replied) {
  const gone = !replied || replied.deleted;
  const name = gone ? "Message" : replied.from_name;
  return h(
    "span",
    { class: "quote" },
    h("b", {}, name),
    h("span", {}, gone ? "not shown here" : preview(replied)),
  );
}

const isText = (message) => !message.method || /^(sendMessage|editMessageText)$/i.test(message.method);

// card stands for what the simulator does not draw: photos, polls, places.
function card(message) {
  const file = message.files?.[0];
  const first = Object.entries(message.params ?? {}).find(([name]) => !skipped.has(name));
  const detail = file
    ? `${file.name || file.field} \u00b7 ${size(file.size)}`
    : first
      ? `${first[0]}: ${first[1]}`.slice(0, 90)
      : "";
  return h(
    "span",
    { class: "card" },
    h("span", { class: "card-icon" }, icon("file")),
    h(
      "span",
      { class: "card-text" },
      h("b", {}, methodNoun(message.method)),
      h("code", {}, message.method),
      detail ? h("span", {}, detail) : null,
    ),
  );
}

function tick(state) {
  if (state === "none") return null;
  if (state === "refused")
    return icon("warn", "Not queued: the bot does not take this kind of update, or was removed");
  return state === "confirmed"
    ? icon("ticks", "The bot confirmed this update")
    : icon("tick", "Waits for the bot");
}

function meta(message, { ticks, workflow }) {
  const edits = message.edited?.length ?? 0;
  const edited = message.deleted
    ? h("span", { class: "edited", title: `Deleted at ${secondOf(message.deleted)}` }, "deleted")
    : edits > 0
      ? h(
          "span",
          {
            class: "edited",
            title: `Edited ${edits === 1 ? "once" : `${edits} times`}, last at ${secondOf(message.edited[edits - 1].time)}`,
          },
          "edited",
        )
      : null;
  const mode =
    message.params?.parse_mode && !message.deleted
      ? h("span", { class: "mode", title: "Formatting is read, and not shown" }, message.params.parse_mode)
      : null;
  const link = workflow
    ? h(
        "a",
        {
          class: "workflow",
          href: workflow,
          target: "_blank",
          rel: "noopener noreferrer",
          "aria-label": "Open this update's workflow in the Temporal UI",
          title: "Open the workflow",
        },
        icon("flow"),
      )
    : null;
  return h(
    "span",
    { class: "meta" },
    mode,
    edited,
    link,
    h("time", { datetime: message.time, title: secondOf(message.time) }, hourOf(message.time)),
    tick(ticks),
  );
}

function webAddress(text) {
  try {
    const address = new URL(text);
    return /^(https?|tg|mailto):$/.test(address.protocol) ? address.href : null;
  } catch {
    return null;
  }
}

function key(message, button, view) {
  const label = String(button.text ?? "");
  if (typeof button.callback_data === "string") {
    const waits = view.pressed.has(button.callback_data);
    return h(
      "button",
      {
        class: `key${waits ? " waits" : ""}`,
        type: "button",
        "data-focus": `key ${message.id} ${button.callback_data}`,
        "aria-busy": waits ? "true" : null,
        disabled: view.silent,
        onclick: () => view.press(message, button.callback_data),
      },
      label,
    );
  }
  const address = webAddress(button.url ?? "");
  if (address)
    return h(
      "a",
      { class: "key", href: address, target: "_blank", rel: "noopener noreferrer" },
      label,
      icon("out"),
    );
  return h(
    "button",
    { class: "key", type: "button", disabled: true, title: "The simulator has no action for this button" },
    label,
  );
}

function keyboard(message, view) {
  const rows = message.markup?.inline_keyboard;
  if (!Array.isArray(rows) || message.deleted) return null;
  return h(
    "div",
    { class: "keys", role: "group", "aria-label": "Buttons" },
    rows.filter(Array.isArray).map((row) =>
      h(
        "div",
        { class: "key-row" },
        row.map((button) => key(message, button ?? {}, view)),
      ),
    ),
  );
}

// bubble draws a message. view tells what is around it: first and last of its
// sender's run, whether names are shown, the replied message, ticks, presses.
export function bubble(message, view) {
  if (message.service) return h("p", { class: "note" }, h("span", {}, serviceText(message.service)));
  const side = message.from_bot ? "bot" : "user";
  const classes = ["message", side, view.first && "first", view.last && "last", message.deleted && "deleted"]
    .filter(Boolean)
    .join(" ");
  const name =
    view.named && view.first
      ? h("b", { class: `name ink-${hue(message.from_id)}` }, message.from_name)
      : null;
  const body = h("span", { class: "text" }, message.text || methodNoun(message.method ?? ""));
  const content = h(
    "div",
    { class: "bubble" },
    name,
    message.reply_to ? quote(view.replied) : null,
    isText(message) || message.deleted ? null : card(message),
    message.text || message.deleted ? body : null,
    meta(message, view),
  );
  return h("div", { class: classes, "data-message": message.id }, content, keyboard(message, view));
}
