// The current page as encoded in the address. Pure; the reactive value is in state/route.svelte.ts.

export type Route =
  | { page: "inbox" }
  | { page: "tasks" }
  | { page: "task"; id: string }
  /** `seq`: the event of `#e18412`, 0 for none. */
  | { page: "session"; id: string; seq: number }
  | { page: "search"; query: string }
  | { page: "settings"; section: string }
  /** `task`: the task that the new session belongs to. */
  | { page: "new"; task: string }
  | { page: "unknown"; path: string };

export function parseRoute(url: URL): Route {
  const parts = url.pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
  const [head = "", id = ""] = parts;
  switch (head) {
    case "": return { page: "inbox" };
    case "tasks": return { page: "tasks" };
    case "t": if (id) return { page: "task", id }; break;
    case "s": if (id) return { page: "session", id, seq: seqOf(url.hash) }; break;
    case "search": return { page: "search", query: url.searchParams.get("q") ?? "" };
    case "settings": return { page: "settings", section: id };
    case "new": return { page: "new", task: url.searchParams.get("task") ?? "" };
  }
  return { page: "unknown", path: url.pathname };
}

function seqOf(hash: string): number {
  const found = /^#e(\d+)$/.exec(hash);
  return found ? Number(found[1]) : 0;
}

export function hrefOf(route: Route): string {
  switch (route.page) {
    case "inbox": return "/";
    case "tasks": return "/tasks";
    case "task": return `/t/${route.id}`;
    case "session": return `/s/${route.id}${route.seq ? `#e${route.seq}` : ""}`;
    case "search": return route.query ? `/search?${new URLSearchParams({ q: route.query }).toString()}` : "/search";
    case "settings": return route.section ? `/settings/${route.section}` : "/settings";
    case "new": return route.task ? `/new?${new URLSearchParams({ task: route.task }).toString()}` : "/new";
    case "unknown": return route.path;
  }
}
