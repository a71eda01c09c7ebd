// Which part of the page is shown where there is no room for all: "chats",
// "talk" or "lab".

const phone = matchMedia("(max-width: 720px)");

export const currentView = () => document.body.dataset.view;

export const talkIsVisible = () => !phone.matches || currentView() === "talk";

export function go(view) {
  document.body.dataset.view = view;
}
