// Building DOM without HTML strings: whatever a user or a bot wrote goes in as
// text, so that it can never become markup.

export const byId = (id) => document.getElementById(id);

// h makes an element. Attributes that are null, undefined or false are left
// out, functions named on... listen, children may be text.
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const svgSpace = "http://www.w3.org/2000/svg";

// svg makes an element of a drawing.
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// icon shows a symbol of index.html. With a label it is an image that is read
// out and explained by a tooltip, without one it is decoration.
export function icon(name, label) {
  const drawing = svg("svg", { class: `icon icon-${name}` }, svg("use", { href: `#i-${name}` }));
  if (!label) {
    drawing.setAttribute("aria-hidden", "true");
    return drawing;
  }
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  drawing.append(svg("title", {}, label));
  return drawing;
}

// setText writes only what changed, so that selections and screen readers are
// left alone.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

const shown = new WeakMap();

// reconcile makes parent show items in order. An item is {key, sign, build}: its
// node is kept while sign stays the same, and built anew when it changes. Focus
// inside a rebuilt node returns to the element with the same data-focus.
export function reconcile(parent, items) {
  const before = shown.get(parent) ?? new Map();
  const after = new Map();
  const wanted = new Set(items.map((item) => item.key));
  for (const [key, entry] of before) {
    if (!wanted.has(key)) entry.node.remove();
  }
  let at = parent.firstElementChild;
  for (const item of items) {
    let entry = before.get(item.key);
    if (!entry) {
      entry = { sign: item.sign, node: item.build() };
    } else if (entry.sign !== item.sign) {
      const node = item.build();
      if (entry.node === at) at = node;
      swap(entry.node, node);
      entry = { sign: item.sign, node };
    }
    after.set(item.key, entry);
    if (entry.node === at) at = at.nextElementSibling;
    else parent.insertBefore(entry.node, at);
  }
  shown.set(parent, after);
}

function swap(old, node) {
  const active = document.activeElement;
  const focus = old.contains(active) ? active.dataset.focus : undefined;
  old.replaceWith(node);
  if (focus === undefined) return;
  const next = [node, ...node.querySelectorAll("[data-focus]")].find((each) => each.dataset.focus === focus);
  next?.focus({ preventScroll: true });
}
