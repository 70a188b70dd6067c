// The state of one session's inspector, kept across its panels so that switching tabs loses
// nothing. Rule: panels depend only on the executor; journal records only trigger a refresh.
import { untrack } from "svelte";
import type { RecordEnvelope, Session } from "../core/types";
import type { WorkspaceApi } from "../core/workspace_api";
import { app } from "../state/app.svelte";
import type { SessionView } from "../state/session.svelte";
import type { JournalRecord } from "../core/event_list";
import { ChangesView } from "./changes_view.svelte";
import { EventsView } from "./events_view.svelte";
import { FilesView } from "./files_view.svelte";
import { ShellsView } from "./shells_view.svelte";

export type PanelId = "changes" | "files" | "shell" | "events" | "details";
export const panelIds: readonly PanelId[] = ["changes", "files", "shell", "events", "details"];

/** Why the panels cannot be used, or `ready`. */
export type WorkspaceState = "ready" | "starting" | "off" | "error" | "missing";

const lookAgain = 400;

export function workspaceState(session: Session): WorkspaceState {
  if (session.executor_status === "ready") return "ready";
  if (session.executor_status === "starting") return "starting";
  return session.executor_status === "error" ? "error" : "off";
}

/** Records after which files may differ. */
function mayChangeFiles(record: RecordEnvelope): boolean {
  if (record.kind === "tool.update") return ["completed", "failed", "cancelled"].includes(String(record["status"]));
  return record.kind.startsWith("run.") || record.kind === "executor.ready";
}

/** The file that a tool reports as its location, if within the workspace. */
export function placeOf(record: RecordEnvelope, folder: string): { path: string; line: number } | null {
  if (record.kind !== "tool.call" && record.kind !== "tool.update") return null;
  const update = record["update"] as { locations?: { path?: string; line?: number }[] } | undefined;
  const at = update?.locations?.at(-1);
  if (!at?.path || !at.path.startsWith(`${folder}/`)) return null;
  return { path: at.path.slice(folder.length + 1), line: at.line ?? 0 };
}

export class Workbench {
  readonly workspace: WorkspaceApi;
  readonly changes: ChangesView;
  readonly files: FilesView;
  readonly events: EventsView;
  readonly shells: ShellsView;
  /** The selected panel. */
  tab: PanelId = $state("changes");
  starting = $state(false);
  startError = $state("");
  #timer = 0;
  /**
   * The session was stopped and its workspace is shutting down: a refresh now would start it again.
   */
  #isEnding = false;

  constructor(readonly view: SessionView) {
    this.workspace = app.api.workspace(view.id);
    this.changes = new ChangesView(this.workspace, () => this.folder);
    this.files = new FilesView(this.workspace, () => void this.changes.lookAgain());
    this.events = new EventsView(app.api, view.id);
    this.shells = new ShellsView(this.workspace);
    // Read untracked: a changed setting must not create another bench.
    this.changes.layout = untrack(() => app.settings.get("diffStyle"));
  }

  get folder(): string {
    return this.view.session?.worktree_path ?? this.view.session?.cwd ?? "";
  }
  get state(): WorkspaceState {
    return this.view.session ? workspaceState(this.view.session) : "starting";
  }

  /** Follows the session's records; the returned function stops that. */
  follow(): () => void {
    const stop = this.view.onRecord((record) => this.#record(record));
    const stopLooking = $effect.root(() => {
      $effect(() => this.#look());
    });
    return () => {
      stop();
      stopLooking();
      clearTimeout(this.#timer);
    };
  }

  openFile(path: string, line = 0): void {
    this.tab = "files";
    void this.files.open(path, line);
  }

  /** Any call to the workspace starts it; the agent is not affected. */
  async startWorkspace(): Promise<void> {
    this.starting = true;
    this.startError = "";
    try {
      await this.workspace.list("");
      this.view.session = await app.api.session(this.view.id);
    } catch (error) {
      this.startError = error instanceof Error ? error.message : String(error);
    } finally {
      this.starting = false;
    }
  }

  /**
   * Loads the counts on the tabs before a panel is opened, but only if the workspace runs, so that
   * it does not start it.
   */
  readonly #isReady = $derived(this.state === "ready");
  #look(): void {
    if (!this.#isReady) return;
    untrack(() => {
      void this.changes.start();
      if (!this.shells.loaded) void this.shells.load();
    });
  }

  #record(record: RecordEnvelope): void {
    this.events.add(record as JournalRecord);
    if (record.kind === "session.stopped") this.#isEnding = true;
    else if (record.kind.startsWith("executor.")) this.#isEnding = false;
    if (this.state !== "ready" || this.#isEnding) return;
    const at = this.files.follow ? placeOf(record, this.folder) : null;
    if (at) void this.files.open(at.path, at.line);
    if (mayChangeFiles(record)) this.#lookSoon();
  }

  #lookSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      if (this.state !== "ready" || this.#isEnding) return;
      void this.changes.lookAgain();
      void this.files.refresh();
    }, lookAgain);
  }
}
