// What the inspector of one session knows, whichever panel is open: so that switching tabs loses nothing.
// Rule: panels depend on the executor alone; records of the journal only tell them when to look again.
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

/** Why the panels cannot be used, or that they can. */
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

/** The file that a tool says it is at, below the workspace. */
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
  /** Which panel is in front. */
  tab: PanelId = $state("changes");
  starting = $state(false);
  startError = $state("");
  #timer = 0;

  constructor(readonly view: SessionView) {
    this.workspace = app.api.workspace(view.id);
    this.changes = new ChangesView(this.workspace, () => this.folder);
    this.files = new FilesView(this.workspace, () => void this.changes.refresh());
    this.events = new EventsView(app.api, view.id);
    this.shells = new ShellsView(this.workspace);
    // Read once: who makes a bench must not make another because a setting changed.
    this.changes.layout = untrack(() => app.settings.get("diffStyle"));
  }

  get folder(): string {
    return this.view.session?.worktree_path ?? this.view.session?.cwd ?? "";
  }
  get state(): WorkspaceState {
    return this.view.session ? workspaceState(this.view.session) : "starting";
  }

  /** Follows the session's records; the function that it gives ends that. */
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

  /** Any call to the workspace starts it; the agent stays as it is. */
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

  /** Counts on the tabs are known before a panel is opened. Only where the workspace runs: looking starts nothing. */
  #look(): void {
    if (this.state !== "ready") return;
    untrack(() => {
      if (this.changes.list === null && !this.changes.noGit && this.changes.error === "") void this.changes.refresh();
      if (!this.shells.loaded) void this.shells.load();
    });
  }

  #record(record: RecordEnvelope): void {
    this.events.add(record as JournalRecord);
    if (this.state !== "ready") return;
    const at = this.files.follow ? placeOf(record, this.folder) : null;
    if (at) void this.files.open(at.path, at.line);
    if (mayChangeFiles(record)) this.#lookSoon();
  }

  #lookSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      void this.changes.refresh();
      void this.files.refresh();
    }, lookAgain);
  }
}
