// The dialog that makes a chat. A group needs somebody who writes in it: a
// person known already, or a new one.

import { api } from "./api.js";
import { byId, setText, show } from "./dom.js";
import { rememberSender } from "./composer.js";
import { go } from "./view.js";

// newGroupId is a basic group's id: negative, and far from the made-up ones.
const newGroupId = () => String(-(10000000 + Math.floor(Math.random() * 900000000)));

async function makeGroup(actions, title, name) {
  const person = await actions.createPerson(name);
  const group = await api.createChat({ id: newGroupId(), title });
  rememberSender(group.id, person.id);
  return group;
}

function showKind(form) {
  const kind = form.elements.kind.value;
  for (const field of form.querySelectorAll("[data-kind]")) show(field, field.dataset.kind === kind);
  form.elements.title.required = kind === "group";
  setText(byId("name-label"), kind === "group" ? "Who writes in it" : "Name of the person");
}

export function mountDialog(store, actions) {
  const dialog = byId("chat-dialog");
  const form = byId("chat-form");
  byId("new-chat").addEventListener("click", () => {
    form.reset();
    showKind(form);
    dialog.showModal();
    form.elements.name.focus();
  });
  byId("dialog-cancel").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  form.addEventListener("change", () => showKind(form));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [name, title, username] = ["name", "title", "username"].map((field) =>
      form.elements[field].value.trim(),
    );
    const isGroup = form.elements.kind.value === "group";
    const chat = await actions.run(() =>
      isGroup ? makeGroup(actions, title, name) : api.createChat({ name, username }),
    );
    if (!chat) return;
    dialog.close();
    store.chats.set(chat.id, { unread: 0, ...store.chats.get(chat.id), ...chat });
    go("talk");
    await actions.open(chat.id);
    byId("text").focus();
  });
}
