// Links to the Temporal UI, when its address is known: from the server's options,
// or from ?ui=... in the page's own address.

import { byId } from "./dom.js";

function base() {
  const asked =
    new URLSearchParams(location.search).get("ui") ??
    document.querySelector("meta[name=temporal-ui]").content;
  try {
    const address = new URL(asked);
    return /^https?:$/.test(address.protocol) ? address.href.replace(/\/+$/, "") : "";
  } catch {
    return "";
  }
}

const ui = base();

// workflowLink is the page of an update's workflow, null when there is no UI.
export function workflowLink(bot, update) {
  const workflow = encodeURIComponent(`update/${bot}/${update}`);
  return ui ? `${ui}/namespaces/default/workflows/${workflow}` : null;
}

export function mountTemporal() {
  const link = byId("temporal");
  link.hidden = !ui;
  if (ui) link.href = `${ui}/namespaces/default/workflows`;
}
