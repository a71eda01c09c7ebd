// Telegram's limits, as numbers one can change. The form is filled when it is
// not being edited.

import { api } from "./api.js";
import { byId } from "./dom.js";

const inSeconds = (name) => name.endsWith("_ms");

function fill(form, limits) {
  for (const input of form.elements) {
    if (!(input.name in limits)) continue;
    if (input.type === "checkbox") input.checked = limits[input.name];
    else input.value = inSeconds(input.name) ? limits[input.name] / 1000 : limits[input.name];
  }
}

function read(form) {
  const limits = {};
  for (const input of form.elements) {
    if (!input.name) continue;
    if (input.type === "checkbox") limits[input.name] = input.checked;
    else
      limits[input.name] = inSeconds(input.name)
        ? Math.round(Number(input.value) * 1000)
        : Number(input.value);
  }
  return limits;
}

export function mountLimits(store, actions) {
  const form = byId("limits");
  let filled = "";
  const save = async (limits) => {
    const saved = await actions.run(() => api.setLimits(limits));
    if (!saved) return;
    filled = "";
    store.limits = saved;
    store.changed();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(read(form));
  });
  byId("limits-reset").addEventListener("click", () => save({}));
  store.subscribe(() => {
    const now = JSON.stringify(store.limits);
    if (!store.limits || now === filled) return;
    filled = now;
    fill(form, store.limits);
  });
}
