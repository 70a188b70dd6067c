// The folders and the open file of one session's workspace. Rule: a save names the version that was
// read; if the file changed since then, nothing is overwritten and the page offers both versions.
import { ApiError } from "../core/api";
import { FileTree, isFolder, parentOf, type TreeRow } from "../core/file_tree";
import type { WorkspaceApi } from "../core/workspace_api";

const readMax = 2 * 1024 * 1024;

export interface OpenFile {
  path: string;
  version: string;
  bytes: number;
  text: string | null;
  /** Only the beginning was read. */
  partial: boolean;
  line: number;
}

export interface FileMatch {
  path: string;
  line?: number;
  column?: number;
  text?: string;
}

export class FilesView {
  rows: TreeRow[] = $state.raw([]);
  file: OpenFile | null = $state.raw(null);
  draft: string | null = $state(null);
  saving = $state(false);
  conflict = $state(false);
  error = $state("");
  query = $state("");
  matches: FileMatch[] | null = $state.raw(null);
  matchesCut = $state(false);
  searching = $state(false);
  follow = $state(false);
  readonly #tree = new FileTree();
  #reading = 0;
  #search: AbortController | null = null;

  constructor(
    private readonly workspace: WorkspaceApi,
    private readonly onSaved: () => void = () => undefined,
  ) {}

  get dirty(): boolean {
    return this.draft !== null && this.draft !== this.file?.text;
  }

  async start(): Promise<void> {
    if (!this.#tree.isListed("")) await this.#list("");
  }

  async toggle(path: string): Promise<void> {
    const open = !this.#tree.isOpen(path);
    this.#tree.setOpen(path, open);
    if (open && !this.#tree.isListed(path)) await this.#list(path);
    this.#redraw();
  }

  async more(row: TreeRow): Promise<void> {
    const folder = parentOf(row.path);
    await this.#list(folder, this.#tree.nextAfter(folder));
  }

  /** Reads the visible folders and file again after a change in the workspace. */
  async refresh(): Promise<void> {
    await Promise.all(this.#tree.shown().map((path) => this.#list(path)));
    if (this.file && !this.dirty) await this.#reread(this.file.path);
  }

  async open(path: string, line = 0): Promise<void> {
    if (this.dirty && this.file?.path !== path) return void (this.error = `Save or discard your changes to ${this.file?.path ?? "the file"} first.`);
    await this.reveal(path);
    await this.#read(path, line);
  }

  async reveal(path: string): Promise<void> {
    for (const folder of this.#tree.reveal(path)) await this.#list(folder);
    this.#redraw();
  }

  close(): void {
    this.file = null;
    this.draft = null;
    this.conflict = false;
    this.error = "";
  }

  edit(): void {
    if (this.file?.text != null && !this.file.partial) this.draft = this.file.text;
  }

  discard(): void {
    this.draft = null;
    this.conflict = false;
    this.error = "";
  }

  async save(overwrite = false): Promise<boolean> {
    const { file, draft } = this;
    if (!file || draft === null) return false;
    this.saving = true;
    try {
      await this.workspace.write({ path: file.path, text: draft, ...(overwrite ? {} : { expected: file.version }) });
      this.discard();
      this.onSaved();
      await Promise.all([this.#read(file.path, 0), this.#list(parentOf(file.path))]);
      return true;
    } catch (error) {
      this.conflict = error instanceof ApiError && error.code === "conflict";
      this.error = this.conflict ? "" : words(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  async find(query: string): Promise<void> {
    this.query = query;
    this.#search?.abort();
    if (query.trim() === "") {
      this.matches = null;
      return;
    }
    const search = (this.#search = new AbortController());
    this.searching = true;
    try {
      const names = this.workspace.search({ name: `*${query.trim()}*`, max: 50, ignore_case: true }, search.signal);
      const lines = this.workspace.search({ content: query, max: 200, ignore_case: true }, search.signal);
      const [byName, byLine] = await Promise.all([names, lines]);
      if (search !== this.#search) return;
      this.matches = [...byName.matches.map(({ path }) => ({ path })), ...byLine.matches];
      this.matchesCut = byName.cut || byLine.cut;
      this.error = "";
    } catch (error) {
      if (search === this.#search && !search.signal.aborted) this.error = words(error);
    } finally {
      if (search === this.#search) this.searching = false;
    }
  }

  async #list(path: string, after = ""): Promise<void> {
    try {
      this.#tree.put(await this.workspace.list(path, after || undefined), after);
      this.error = "";
    } catch (error) {
      if (path !== "") this.#tree.drop(path);
      else this.error = words(error);
    }
    this.#redraw();
  }

  #redraw(): void {
    this.rows = this.#tree.rows().filter((row) => row.path !== ".git");
  }

  async #read(path: string, line: number): Promise<void> {
    const reading = ++this.#reading;
    try {
      const read = await this.workspace.read(path, { bytes: readMax });
      if (reading !== this.#reading) return;
      this.draft = null;
      this.conflict = false;
      this.error = "";
      this.file = { path, version: read.version, bytes: read.file_bytes, text: read.text ?? null, partial: !read.at_end, line };
    } catch (error) {
      if (reading === this.#reading) this.error = words(error);
    }
  }

  async #reread(path: string): Promise<void> {
    const entry = await this.workspace.stat(path).catch(() => null);
    if (entry && !isFolder(entry) && entry.version !== this.file?.version) await this.#read(path, this.file?.line ?? 0);
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
