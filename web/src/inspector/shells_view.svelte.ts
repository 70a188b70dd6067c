// The running shells of one session, in tabs. A shell outlives the page; closing its tab ends it.
import type { WorkspaceApi } from "../core/workspace_api";

export interface ShellTab {
  /** The page's own key, so that a tab keeps its terminal when the daemon names the shell. */
  key: number;
  /** The daemon's name; empty until the daemon has opened the shell. */
  shell: string;
  name: string;
  /** First byte that the daemon still has. */
  from: number;
  ended: string;
}

let keys = 0;

export class ShellsView {
  tabs: ShellTab[] = $state([]);
  active = $state(0);
  loaded = $state(false);
  error = $state("");

  constructor(readonly workspace: WorkspaceApi) {}

  get count(): number {
    return this.tabs.filter((tab) => tab.ended === "").length;
  }

  /** Attaches to running shells; opens none. */
  async load(): Promise<void> {
    try {
      const { shells } = await this.workspace.shells();
      for (const found of shells) {
        if (found.exit !== null || this.tabs.some((tab) => tab.shell === found.shell)) continue;
        this.tabs.push({ key: ++keys, shell: found.shell, name: nameOf(found.command), from: found.output_begin, ended: "" });
      }
      this.active ||= this.tabs[0]?.key ?? 0;
      this.loaded = true;
      this.error = "";
    } catch (error) {
      this.error = error instanceof Error ? error.message : String(error);
    }
  }

  open(): void {
    const tab: ShellTab = { key: ++keys, shell: "", name: "shell", from: 0, ended: "" };
    this.tabs.push(tab);
    this.active = tab.key;
  }

  /** The daemon has opened the shell and named it. */
  async opened(tab: ShellTab, shell: string): Promise<void> {
    tab.shell = shell;
    const found = (await this.workspace.shells().catch(() => null))?.shells.find((one) => one.shell === shell);
    if (found) tab.name = nameOf(found.command);
  }

  async close(key: number): Promise<void> {
    const at = this.tabs.findIndex((tab) => tab.key === key);
    const tab = this.tabs[at];
    if (!tab) return;
    this.tabs.splice(at, 1);
    if (this.active === key) this.active = this.tabs[Math.min(at, this.tabs.length - 1)]?.key ?? 0;
    if (tab.shell !== "") await this.workspace.shellClose(tab.shell).catch(() => undefined);
  }
}

function nameOf(command: readonly string[]): string {
  return (command[0] ?? "shell").split("/").pop() ?? "shell";
}
