// The admin API of the simulator. Every call returns the decoded answer, or
// throws an Error whose message can be shown to a person.

async function call(method, path, body) {
  const init = { method, cache: "no-store" };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  let response;
  try {
    response = await fetch(`/sim/api/${path}`, init);
  } catch {
    throw new Error("The simulator does not answer.");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The simulator answered ${response.status}.`);
  return answer;
}

const post = (path, body = {}) => call("POST", path, body);
const remove = (path) => call("DELETE", path);

export const api = {
  state: () => call("GET", "state"),
  pulse: () => call("GET", "pulse"),
  messages: (chat, query = "") =>
    call("GET", `chats/${chat}/messages?limit=200${query}`).then((answer) => answer.messages),
  createChat: (chat) => post("chats", chat),
  send: (chat, text, from) => post(`chats/${chat}/send`, from ? { text, from_id: from } : { text }),
  press: (chat, message, data) => post(`chats/${chat}/press`, { message_id: message, data }),
  act: (chat, action) => post(`chats/${chat}/${action}`),
  penalise: (chat, seconds) => post(`chats/${chat}/penalise`, { seconds }),
  addFault: (fault) => post("faults", fault),
  removeFault: (id) => remove(`faults/${id}`),
  clearFaults: () => remove("faults"),
  startFlood: (flood) => post("flood", flood),
  stopFlood: () => remove("flood"),
  setLimits: (limits) => post("limits", limits),
};
