// The git state of a workspace as one list: committed since the base, changed, staged or new. Rule:
// a file appears once; line counts come from the diff, uncommitted files from the status.

import type { GitChange, GitCommit, GitDiff, GitStatus, GitWorktrees } from "./workspace_types";

type StatusFile = GitStatus["files"][number];
type GitWorktree = GitWorktrees["worktrees"][number];

/** The commit that changes are counted from. */
export interface Base {
  /** For display: "main", or "the last commit". */
  name: string;
  commit: string;
}

export type Mark = "A" | "M" | "D" | "R" | "C" | "U" | "?";

export interface ChangedFile {
  path: string;
  from: string;
  mark: Mark;
  added: number | null;
  removed: number | null;
  binary: boolean;
  uncommitted: boolean;
  untracked: boolean;
  /** The file's part of the unified diff; empty if the diff does not contain it. */
  patch: string;
}

export interface ChangeList {
  files: ChangedFile[];
  added: number;
  removed: number;
  uncommitted: number;
  cut: boolean;
}

const markOfChange: Record<GitChange, Mark | null> = {
  none: null,
  modified: "M",
  type_changed: "M",
  added: "A",
  deleted: "D",
  renamed: "R",
  copied: "C",
  conflicted: "U",
  untracked: "?",
};

export const markWords: Record<Mark, string> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  U: "in conflict",
  "?": "new, not in git",
};

/**
 * The branch that the work started from. A separate worktree is compared with the branch of the
 * main folder; a session in the main folder is compared with the last commit.
 */
export function baseBranch(worktrees: GitWorktree[], own: string): string | null {
  const main = worktrees.find((tree) => !tree.gone && !tree.bare);
  if (!main || main.absolute_path === own || main.branch === "") return null;
  return main.branch;
}

/**
 * The newest commit that both histories share, so that later work on the base is not shown as ours.
 */
export function forkPoint(ours: Pick<GitCommit, "oid">[], theirs: Pick<GitCommit, "oid">[]): string | null {
  const known = new Set(theirs.map((commit) => commit.oid));
  return ours.find((commit) => known.has(commit.oid))?.oid ?? null;
}

/** Splits a unified diff of many files into one patch per file. */
export function splitPatch(text: string): string[] {
  if (text === "") return [];
  const starts: number[] = [];
  for (let at = text.startsWith("diff --git ") ? 0 : text.indexOf("\ndiff --git "); at >= 0; ) {
    starts.push(text[at] === "\n" ? at + 1 : at);
    at = text.indexOf("\ndiff --git ", at + 1);
  }
  return starts.map((start, index) => text.slice(start, starts[index + 1] ?? text.length));
}

function markOfPatch(patch: string): Mark {
  const head = patch.slice(0, patch.indexOf("\n@@") + 1 || patch.length);
  if (/^new file mode/m.test(head)) return "A";
  if (/^deleted file mode/m.test(head)) return "D";
  if (/^rename from/m.test(head)) return "R";
  return /^copy from/m.test(head) ? "C" : "M";
}

function renamedFrom(patch: string): string {
  return /^rename from (.+)$/m.exec(patch)?.[1] ?? "";
}

/** Joins status and diff. Git prints the patches in the order of its file list. */
export function listChanges(status: GitStatus, diff: GitDiff): ChangeList {
  const patches = splitPatch(diff.text);
  const byPath = new Map<string, ChangedFile>();
  diff.files.forEach((file, index) => {
    const patch = patches[index] ?? "";
    byPath.set(file.path, {
      path: file.path,
      from: renamedFrom(patch),
      mark: markOfPatch(patch),
      added: file.added,
      removed: file.removed,
      binary: file.binary,
      uncommitted: false,
      untracked: false,
      patch,
    });
  });
  for (const file of status.files) mergeStatus(byPath, file);
  const files = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return {
    files,
    added: sum(files.map((file) => file.added)),
    removed: sum(files.map((file) => file.removed)),
    uncommitted: files.filter((file) => file.uncommitted).length,
    cut: status.cut || diff.cut,
  };
}

function mergeStatus(byPath: Map<string, ChangedFile>, file: StatusFile): void {
  const mark = markOfChange[file.unstaged] ?? markOfChange[file.staged];
  if (mark === null) return;
  const known = byPath.get(file.path);
  if (known) {
    known.uncommitted = true;
    if (mark === "U") known.mark = "U";
    return;
  }
  byPath.set(file.path, {
    path: file.path,
    from: file.from ?? "",
    mark,
    added: null,
    removed: null,
    binary: false,
    uncommitted: true,
    untracked: mark === "?",
    patch: "",
  });
}

function sum(numbers: (number | null)[]): number {
  return numbers.reduce<number>((total, one) => total + (one ?? 0), 0);
}

/** Shows a new file as a diff, so that it reads like the others. */
export function patchOfNewFile(path: string, text: string): string {
  const lines = text.split("\n");
  const cut = lines.at(-1) === "";
  if (cut) lines.pop();
  const head = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n`;
  if (lines.length === 0) return head;
  const body = lines.map((line) => `+${line}`).join("\n");
  return `${head}@@ -0,0 +1,${lines.length} @@\n${body}\n${cut ? "" : "\\ No newline at end of file\n"}`;
}

/** The text added to the composer when a person comments on one line. */
export function lineComment(path: string, line: number, code: string, words: string): string {
  const quoted = code.trim() === "" ? "" : `\n> ${code.trim()}`;
  return `${path}:${line}${quoted}\n${words.trim()}\n`;
}

/** The previous or next file, wrapping around. */
export function neighbour(files: readonly { path: string }[], path: string | null, step: 1 | -1): string | null {
  if (files.length === 0) return null;
  const at = files.findIndex((file) => file.path === path);
  const next = at < 0 ? (step > 0 ? 0 : files.length - 1) : (at + step + files.length) % files.length;
  return files[next]?.path ?? null;
}
