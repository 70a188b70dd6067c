// The changes of one session's workspace: read from git, read again after events, one file
// selected. Rule: the shown list stays until a newer read is complete; reads never overlap.
import { ApiError } from "../core/api";
import { baseBranch, forkPoint, listChanges, neighbour, patchOfNewFile, type Base, type ChangeList, type ChangedFile } from "../core/changes";
import type { WorkspaceApi } from "../core/workspace_api";

export type DiffLayout = "unified" | "split";

const historyDepth = 200;
const newFileMax = 256 * 1024;

export class ChangesView {
  list: ChangeList | null = $state.raw(null);
  base: Base | null = $state.raw(null);
  branch = $state("");
  selected: string | null = $state(null);
  layout: DiffLayout = $state("unified");
  loading = $state(false);
  error = $state("");
  /** The folder is not a repository: shown as a plain sentence, not an error. */
  noGit = $state(false);
  #busy = false;
  #isStarted = false;
  #again = false;
  #made = $state.raw(new Map<string, string>());

  constructor(
    private readonly workspace: WorkspaceApi,
    private readonly folder: () => string,
  ) {}

  get file(): ChangedFile | null {
    return this.list?.files.find((file) => file.path === this.selected) ?? null;
  }

  /** A file's patch; for an untracked file, one made from its text. */
  patchOf(file: ChangedFile): string {
    return file.patch !== "" ? file.patch : (this.#made.get(file.path) ?? "");
  }

  step(by: 1 | -1): void {
    this.select(neighbour(this.list?.files ?? [], this.selected, by));
  }

  select(path: string | null): void {
    this.selected = path;
    const file = this.file;
    if (file?.untracked && !this.#made.has(file.path) && !file.path.endsWith("/")) void this.#makePatch(file.path);
  }

  /** The first read; later callers do not repeat it. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    await this.refresh();
  }

  /** Something may have changed. Without a repository, git is queried only after one appears. */
  async lookAgain(): Promise<void> {
    if (!this.#isStarted) return;
    if (this.noGit && !(await this.#hasRepository())) return;
    await this.refresh();
  }

  async #hasRepository(): Promise<boolean> {
    const found = await this.workspace.list("").catch(() => null);
    return found?.entries.some((entry) => entry.name === ".git") ?? false;
  }

  /** One read at a time; a call during a read causes one more after it. */
  async refresh(): Promise<void> {
    if (this.#busy) return void (this.#again = true);
    this.#busy = true;
    do {
      this.#again = false;
      await this.#read();
    } while (this.#again && !this.noGit);
    this.#busy = false;
  }

  async #read(): Promise<void> {
    this.loading = true;
    try {
      const status = await this.workspace.gitStatus("all");
      if (this.base === null || this.base.name !== "the last commit") await this.#findBase(status.branch.oid);
      const base = this.base ?? { name: "the last commit", commit: "HEAD" };
      const diff = status.branch.oid === "" ? { files: [], text: "", cut: false } : await this.workspace.gitDiff({ of: "since", commit: base.commit });
      this.#take(listChanges(status, diff), status.branch.name);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.loading = false;
    }
  }

  #take(list: ChangeList, branch: string): void {
    this.list = list;
    this.branch = branch;
    this.error = "";
    this.noGit = false;
    this.#made = new Map();
    const still = list.files.some((file) => file.path === this.selected);
    this.select(still ? this.selected : (list.files[0]?.path ?? null));
  }

  #fail(error: unknown): void {
    this.noGit = error instanceof ApiError && error.code === "not_found";
    this.error = this.noGit ? "" : error instanceof Error ? error.message : String(error);
  }

  async #findBase(head: string): Promise<void> {
    const { worktrees } = await this.workspace.gitWorktrees();
    const branch = baseBranch(worktrees, this.folder());
    if (branch === null || head === "") {
      this.base = { name: "the last commit", commit: "HEAD" };
      return;
    }
    const [ours, theirs] = await Promise.all([
      this.workspace.gitLog({ max: historyDepth }),
      this.workspace.gitLog({ from: branch, max: historyDepth }),
    ]);
    this.base = { name: branch, commit: forkPoint(ours.commits, theirs.commits) ?? branch };
  }

  async #makePatch(path: string): Promise<void> {
    const read = await this.workspace.read(path, { bytes: newFileMax }).catch(() => null);
    if (read?.text === undefined) return;
    const made = new Map(this.#made);
    this.#made = made.set(path, patchOfNewFile(path, read.text));
  }
}
