// The workspace's folders as listed, and which of them are open. Rule: a folder's listing replaces
// the previous one as a whole; rows are derived, never edited.

import type { FsEntry, FsList } from "./workspace_types";

/** A line of the tree on the screen. */
export interface TreeRow {
  path: string;
  name: string;
  depth: number;
  folder: boolean;
  open: boolean;
  entry: FsEntry;
  /** The folder was listed only in part; this row stands for the rest. */
  rest?: boolean;
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export function joinPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** All parent folders of a path, outermost first: "a/b/c" gives "a", "a/b". */
export function foldersAbove(path: string): string[] {
  const out: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) out.push(path.slice(0, at));
  return out;
}

export function isFolder(entry: FsEntry): boolean {
  return entry.kind === "folder" || (entry.kind === "symlink" && entry.leads_to === "folder");
}

function inOrder(a: FsEntry, b: FsEntry): number {
  const folders = Number(isFolder(b)) - Number(isFolder(a));
  return folders !== 0 ? folders : byName.compare(a.name, b.name);
}

interface Listing {
  entries: FsEntry[];
  more: boolean;
  /** The last name in the daemon's sort order, where the next page begins. */
  last: string;
}

export class FileTree {
  readonly #listed = new Map<string, Listing>();
  readonly #open = new Set<string>([""]);

  /** A first page replaces the listing; a later page extends it. */
  put(page: FsList, after = ""): void {
    const before = after === "" ? [] : (this.#listed.get(page.path)?.entries ?? []);
    const names = new Set(page.entries.map((entry) => entry.name));
    const entries = [...before.filter((entry) => !names.has(entry.name)), ...page.entries].sort(inOrder);
    const last = page.entries.at(-1)?.name ?? after;
    this.#listed.set(page.path, { entries, more: page.more, last });
  }

  /** Removes a folder and everything below it. */
  drop(path: string): void {
    for (const known of [...this.#listed.keys()]) {
      if (known === path || known.startsWith(`${path}/`)) this.#listed.delete(known);
    }
    if (path !== "") this.#open.delete(path);
  }

  isListed(path: string): boolean {
    return this.#listed.has(path);
  }

  isOpen(path: string): boolean {
    return this.#open.has(path);
  }

  nextAfter(path: string): string {
    return this.#listed.get(path)?.last ?? "";
  }

  setOpen(path: string, open: boolean): void {
    if (open) this.#open.add(path);
    else if (path !== "") this.#open.delete(path);
  }

  /** Opens all parents of a path; returns the folders that must be listed for that. */
  reveal(path: string): string[] {
    const above = ["", ...foldersAbove(path)];
    for (const folder of above) this.#open.add(folder);
    return above.filter((folder) => !this.#listed.has(folder));
  }

  /** Folders whose listings are visible and must be read again when files change. */
  shown(): string[] {
    return [...this.#listed.keys()].filter((path) => this.#visible(path));
  }

  rows(): TreeRow[] {
    const out: TreeRow[] = [];
    this.#walk("", 0, out);
    return out;
  }

  #visible(path: string): boolean {
    return this.#open.has(path) && foldersAbove(path).every((folder) => this.#open.has(folder));
  }

  #walk(folder: string, depth: number, out: TreeRow[]): void {
    const listing = this.#listed.get(folder);
    if (!listing) return;
    for (const entry of listing.entries) {
      const path = joinPath(folder, entry.name);
      const isDir = isFolder(entry);
      const open = isDir && this.#open.has(path);
      out.push({ path, name: entry.name, depth, folder: isDir, open, entry });
      if (open) this.#walk(path, depth + 1, out);
    }
    if (listing.more) out.push(restRow(folder, depth, listing.last));
  }
}

function restRow(folder: string, depth: number, last: string): TreeRow {
  const entry: FsEntry = { name: last, kind: "other", bytes: 0, modified_at: "", mode: 0 };
  return { path: joinPath(folder, "\u0000rest"), name: "More…", depth, folder: false, open: false, entry, rest: true };
}

export type TreeMove = { to: number } | { open: string } | { close: string } | null;

/** The effect of an arrow key in a tree, per WAI-ARIA. */
export function treeMove(rows: TreeRow[], at: number, key: string): TreeMove {
  const row = rows[at];
  switch (key) {
    case "ArrowDown":
      return at + 1 < rows.length ? { to: at + 1 } : null;
    case "ArrowUp":
      return at > 0 ? { to: at - 1 } : null;
    case "Home":
      return rows.length > 0 ? { to: 0 } : null;
    case "End":
      return rows.length > 0 ? { to: rows.length - 1 } : null;
    case "ArrowRight":
      if (!row?.folder) return null;
      return row.open ? { to: Math.min(at + 1, rows.length - 1) } : { open: row.path };
    case "ArrowLeft": {
      if (!row) return null;
      if (row.open) return { close: row.path };
      const above = rows.findIndex((other) => other.path === parentOf(row.path) && other.folder);
      return above >= 0 ? { to: above } : null;
    }
    default:
      return null;
  }
}
