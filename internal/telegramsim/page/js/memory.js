// What the page remembers across reloads. A browser may refuse storage; then it
// remembers until it is closed.

const here = new Map();

export function remember(name, text) {
  here.set(name, text);
  try {
    localStorage.setItem(name, text);
  } catch {
    // Refused or full: the copy above is what there is.
  }
}

// recall is what was remembered under a name, or null.
export function recall(name) {
  try {
    return localStorage.getItem(name) ?? here.get(name) ?? null;
  } catch {
    return here.get(name) ?? null;
  }
}
