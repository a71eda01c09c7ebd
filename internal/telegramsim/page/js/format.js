// Words and numbers for people.

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const exact = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long" });

export const hourOf = (time) => clock.format(new Date(time));
export const secondOf = (time) => exact.format(new Date(time));

// instant is a time in milliseconds with the fractions the simulator gives, as
// several things happen in one millisecond there.
export function instant(time) {
  const digits = /\.(\d+)/.exec(time)?.[1] ?? "";
  return Date.parse(time) + Number(digits.padEnd(9, "0").slice(3, 9)) / 1e6;
}

export const dayOf = (time) => new Date(time).toDateString();

export function dayName(time, now = new Date()) {
  if (dayOf(time) === now.toDateString()) return "Today";
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  return dayOf(time) === yesterday.toDateString() ? "Yesterday" : date.format(new Date(time));
}

// shortTime is the hour today, the weekday this week, else the date.
export function shortTime(time, now = new Date()) {
  const then = new Date(time);
  if (then.toDateString() === now.toDateString()) return clock.format(then);
  return now - then < 6 * 24 * 3600 * 1000 ? weekday.format(then) : date.format(then);
}

// left is what remains of a span: "0:07", "12:30", "5:59:59".
export function left(milliseconds) {
  const total = Math.max(0, Math.ceil(milliseconds / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

export function count(n) {
  if (n < 10000) return String(n);
  return n < 1000000 ? `${Math.floor(n / 1000)}k` : `${(n / 1000000).toFixed(1)}m`;
}

export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

// initials are the first letters of a name; of "User 2000030", the "30" that
// tells it from its neighbours.
export function initials(title) {
  const words = title.trim().split(/\s+/).filter(Boolean);
  const number = /\d{2}$/.exec(title)?.[0];
  if (number) return number;
  const first = [...(words[0] ?? "?")][0];
  const second = words.length > 1 ? [...words[words.length - 1]][0] : "";
  return (first + second).toUpperCase();
}

// hue picks one of eight avatar colours by id; neighbours differ.
export const hue = (id) => Number(BigInt(id) % 8n < 0n ? -(BigInt(id) % 8n) : BigInt(id) % 8n);

// "sendPhoto" becomes "Photo".
export function methodNoun(method) {
  const words = method
    .replace(/^(send|forward|copy)/, "")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1) || method;
}

const states = {
  blocked: "blocked the bot",
  deactivated: "account deleted",
  never_started: "never started the bot",
  kicked: "bot was removed",
  migrated: "became a supergroup",
};

export const stateWords = (state) => states[state] ?? "";

// preview is one line for a list.
export function preview(message) {
  if (message.deleted) return "Deleted message";
  if (message.service) return serviceText(message.service);
  return message.text.replace(/\s+/g, " ").slice(0, 120) || methodNoun(message.method ?? "");
}

export function serviceText(service) {
  if (service.migrate_to_chat_id) return "This group became a supergroup";
  if (service.migrate_from_chat_id) return "Supergroup made from a group";
  return Object.keys(service).join(", ").replaceAll("_", " ");
}
