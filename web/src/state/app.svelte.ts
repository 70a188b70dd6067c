// What the whole page knows: the daemon's lists, the connection, and what this browser prefers. One object, `app`.
import { Api } from "../core/api";
import type { Agent, Brief, Inbox, Task } from "../core/types";
import { Settings } from "./settings.svelte";

export type LinkState = "connecting" | "live" | "reconnecting" | "offline" | "restarting";

class App {
  readonly api = new Api(() => this.key);
  readonly settings = new Settings();
  /** Whether this browser may talk to the daemon; "out": say what to do. */
  login: "unknown" | "in" | "out" = $state("unknown");
  /** The socket alone; whether a session is up to date is its own `sync`. */
  link: LinkState = $state("connecting");
  /** When the next attempt is made, in ms; 0: none is planned. */
  nextAttempt = $state(0);
  /** True once a drop has lasted three seconds: only then anything is said. */
  isDropShown = $state(false);

  /** Newest first. */
  sessions: Brief[] = $state.raw([]);
  inbox: Inbox | null = $state.raw(null);
  tasks: Task[] = $state.raw([]);
  agents: Agent[] = $state.raw([]);
  isLoaded = $state(false);

  private key: string | null = null;

  /** How many things wait for a person. */
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

  /** Says something politely to screen readers: states, never chunks. */
  announce(_text: string): void {}
  /** A line at the bottom that goes by itself: the result of what somebody did. */
  tell(_text: string, _tone: "plain" | "failure" = "plain"): void {}
  async refresh(): Promise<void> {}
  tryNow(): void {}
}

export const app = new App();
