// Draws attention while the page is in the background: its title, its icon, a notification if
// permitted, and a polite announcement for screen readers.
import { happenings, type Happening } from "../core/changes_of_state";
import { markedText } from "../core/suspicious";
import type { Brief } from "../core/types";
import { app } from "./app.svelte";
import { place } from "./route.svelte";

export const canNotify = (): boolean => isSecureContext && "Notification" in window;

function notify(happening: Happening): void {
  if (!app.settings.get("notify") || !canNotify() || Notification.permission !== "granted") return;
  if (document.visibilityState === "visible" || happening.kind === "finished") return;
  // Only a link to the session: a notification cannot show the whole question, so it never answers
  // one.
  const body = happening.kind === "needs" ? "Open the session to review it." : "";
  const shown = new Notification(happening.text, { body, tag: happening.session, icon: "/favicon-needs.svg" });
  shown.onclick = () => {
    focus();
    place.go({ page: "session", id: happening.session, seq: 0 });
    shown.close();
  };
}

function pageName(): string {
  const route = place.route;
  switch (route.page) {
    case "session": return markedText(app.sessionById(route.id)?.title ?? "Session");
    case "task": return markedText(app.taskById(route.id)?.title ?? "Task");
    case "new": return "New task";
    case "unknown": return "Not found";
    default: return route.page.charAt(0).toUpperCase() + route.page.slice(1);
  }
}

/** Lives as long as the page; call within a component. */
export function watchAttention(): void {
  let before: Brief[] = [];
  $effect(() => {
    const now = app.sessions;
    const found = happenings(before, now);
    before = now;
    const open = place.route.page === "session" ? place.route.id : "";
    for (const happening of found) {
      notify(happening);
      if (happening.kind === "needs" || happening.session === open) app.announce(happening.text);
    }
  });
  $effect(() => {
    document.title = `${app.needs > 0 ? `(${app.needs}) ` : ""}${pageName()} · Perdure`;
  });
  $effect(() => {
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon) icon.href = app.needs > 0 ? "/favicon-needs.svg" : "/favicon.svg";
  });
}
