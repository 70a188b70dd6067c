// The state of the whole page: the daemon's lists, the connection, this browser's settings. One
// object, `app`.
import { isAtHand } from "../core/agent_words";
import { Api, ApiError } from "../core/api";
import { Connection, type ConnectionState } from "../core/connection";
import { briefOf } from "../core/session_face";
import type { Agent, Brief, Inbox, Session, Task, Tombstone } from "../core/types";
import { browserWorld } from "./browser_world";
import { readStored, Settings, writeStored } from "./settings.svelte";

export interface SessionListener {
  changed(session: Session): void;
  /** Null: it is unknown when and by whom. */
  removed(tombstone: Tombstone | null): void;
}
export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "failure";
}

const keyPlace = "perdure.key";
/** A drop is shown only after this many ms. */
const quietDrop = 3000;

class App {
  readonly settings = new Settings();
  readonly api = new Api(() => this.key, (refusal) => (this.isDiskFull = refusal?.code === "disk_full"));
  /** The last change failed for lack of disk space; the next accepted one clears this. */
  isDiskFull = $state(false);
  /** Whether this browser is signed in to the daemon; "out": the page shows how to sign in. */
  login: "unknown" | "in" | "out" = $state(readStored(keyPlace) && !location.hash.startsWith("#launch=") ? "in" : "unknown");
  /** Why a launch link failed; empty: none was tried. */
  loginError = $state("");
  /** The socket only; `sync` of a session shows whether that is up to date. */
  link: ConnectionState = $state.raw({ name: "connecting" });
  /** True once a drop has lasted three seconds: only then is it shown. */
  isDropShown = $state(false);
  /** The browser reports no network. */
  isOffline = $state(false);

  /** Newest first. */
  sessions: Brief[] = $state.raw([]);
  inbox: Inbox | null = $state.raw(null);
  tasks: Task[] = $state.raw([]);
  agents: Agent[] = $state.raw([]);
  agentsAtHand: Agent[] = $derived(this.agents.filter(isAtHand));
  /** The lists have been read once. */
  isLoaded = $state(false);

  announcement = $state("");
  toasts: Toast[] = $state.raw([]);

  readonly connection = new Connection(
    browserWorld(() => this.api.socket("/ws")),
    { changed: (session) => this.changed(session), removed: (id, tombstone) => this.removed(id, tombstone) },
    (state) => this.linked(state),
  );
  private key: string | null = readStored<string>(keyPlace);
  private readonly listeners = new Map<string, Set<SessionListener>>();
  private readonly changes = new Map<string, Session>();
  private waiting: (() => void)[] = [];
  private dropTimer = 0;
  private changeTimer = 0;
  private listTimer = 0;
  private toastCount = 0;

  /** The number of items that wait for a person. */
  readonly needs = $derived(this.inbox?.counts.total ?? 0);
  readonly running = $derived(this.sessions.filter((session) => session.status === "running").length);

  sessionById(id: string): Brief | undefined {
    return this.sessions.find((session) => session.id === id);
  }
  taskById(id: string): Task | undefined {
    return this.tasks.find((task) => task.id === id);
  }
  agentTitle(name: string): string {
    const title = this.agents.find((agent) => agent.name === name)?.title;
    return title ? title.replace(/ \(.*\)$/, "") : name;
  }

  /** Signs in, reads the lists, connects. */
  async start(): Promise<void> {
    const launch = /^#launch=(.+)$/.exec(location.hash)?.[1];
    if (launch) await this.logIn(decodeURIComponent(launch));
    await this.refresh();
    if (this.login !== "out") this.connection.start();
  }

  /** Exchanges a launch token for a key; the token is removed from the address at once. */
  async logIn(token: string): Promise<boolean> {
    history.replaceState(null, "", location.pathname + location.search);
    try {
      const { key } = await this.api.login(token);
      this.key = key;
      writeStored(keyPlace, key);
      this.login = "in";
      this.loginError = "";
      return true;
    } catch (error) {
      this.loginError = error instanceof ApiError ? error.message : String(error);
      return false;
    }
  }

  /** Reads all lists again. */
  async refresh(): Promise<void> {
    try {
      const [sessions, inbox, tasks, agents] = await Promise.all([
        this.api.sessions({ limit: 200 }), this.api.inbox(), this.api.tasks(), this.api.agents(),
      ]);
      this.sessions = sessions.sessions.sort(newestFirst);
      this.inbox = inbox;
      this.tasks = tasks.tasks;
      this.agents = agents.agents;
      this.login = "in";
      this.isLoaded = true;
    } catch (error) {
      if (error instanceof ApiError && error.isUnauthenticated) this.login = "out";
    }
  }

  /** Inbox and tasks depend on sessions, so they are read again shortly after a session changes. */
  refreshSoon(): void {
    if (this.listTimer !== 0) return;
    this.listTimer = setTimeout(() => {
      this.listTimer = 0;
      void this.refreshInbox();
    }, 120) as unknown as number;
  }
  private async refreshInbox(): Promise<void> {
    try {
      const [inbox, tasks] = await Promise.all([this.api.inbox(), this.api.tasks()]);
      this.inbox = inbox;
      this.tasks = tasks.tasks;
    } catch {
      // The next change, or the next connection, reads them again.
    }
  }

  /** Calls the listener at each change of one session. */
  onSession(id: string, listener: SessionListener): () => void {
    const all = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, all.add(listener));
    return () => all.delete(listener);
  }

  /** Calls once there is a connection: now, or later. */
  whenLive(call: () => void): void {
    if (this.link.name === "live") setTimeout(call, 1000);
    else this.waiting.push(call);
  }
  /** Try to connect at once. */
  tryNow(): void {
    this.connection.wake();
  }

  /** The page may enter the back/forward cache. */
  rest(): void {
    this.connection.rest();
  }

  /** Watches the browser's own view of its network. */
  watchNetwork(): () => void {
    const look = (): void => void (this.isOffline = !navigator.onLine);
    look();
    addEventListener("online", look);
    addEventListener("offline", look);
    return () => {
      removeEventListener("online", look);
      removeEventListener("offline", look);
    };
  }

  /** Announces a state politely to screen readers; never streamed text. */
  announce(text: string): void {
    this.announcement = text;
  }
  /** Shows the result of an action at the bottom for a while. */
  tell(text: string, tone: "plain" | "failure" = "plain"): void {
    const id = ++this.toastCount;
    this.toasts = [...this.toasts.slice(-2), { id, text, tone }];
    setTimeout(() => this.untell(id), tone === "failure" ? 9000 : 5000);
  }
  untell(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  private linked(state: ConnectionState): void {
    this.link = state;
    if (state.name === "refused") {
      this.login = "out";
    } else if (state.name === "live") {
      clearTimeout(this.dropTimer);
      this.dropTimer = 0;
      this.isDropShown = false;
      void this.refresh();
      for (const call of this.waiting.splice(0)) call();
    } else if (this.dropTimer === 0) {
      this.dropTimer = setTimeout(() => (this.isDropShown = true), quietDrop) as unknown as number;
    }
  }

  private changed(session: Session): void {
    for (const listener of this.listeners.get(session.id) ?? []) listener.changed(session);
    this.changes.set(session.id, session);
    if (this.changeTimer !== 0) return;
    this.changeTimer = setTimeout(() => this.flushChanges(), 100) as unknown as number;
  }

  private flushChanges(): void {
    this.changeTimer = 0;
    const changes = [...this.changes.values()].map(briefOf);
    this.changes.clear();
    const known = new Map(this.sessions.map((session) => [session.id, session]));
    if (changes.some((brief) => concernsLists(known.get(brief.id), brief))) this.refreshSoon();
    for (const brief of changes) known.set(brief.id, brief);
    this.sessions = [...known.values()]
      .filter((session) => !session.archived)
      .sort(newestFirst);
  }

  /** The session was deleted, by the daemon or by this page. Drops all cached state of it. */
  removed(id: string, tombstone: Tombstone | null = null): void {
    this.changes.delete(id);
    for (const listener of this.listeners.get(id) ?? []) listener.removed(tombstone);
    this.sessions = this.sessions.filter((session) => session.id !== id);
    this.refreshSoon();
  }
}

// Equal times are common after a restart: comparing ids keeps such rows in a stable order.
function newestFirst(a: Brief, b: Brief): number {
  if (a.updated !== b.updated) return a.updated < b.updated ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}

function concernsLists(before: Brief | undefined, now: Brief): boolean {
  if (!before) return true;
  const fields = [
    "status", "state", "title", "task_id", "archived", "pending", "pending_since", "needs_resume", "queue_length", "error_message",
  ] as const;
  return fields.some((field) => before[field] !== now[field]);
}

export const app = new App();
