// The session's files, git and shells; documented in docs/protocol/workspace.md.

export interface FsEntry {
  name: string;
  kind: "file" | "folder" | "symlink" | "other";
  bytes: number;
  modified_at: string;
  mode: number;
  version?: string;
  link?: string;
  leads_to?: string | null;
}

export interface FsList {
  path: string;
  entries: FsEntry[];
  more: boolean;
}

export interface FsRead {
  path: string;
  version: string;
  file_bytes: number;
  offset: number;
  text?: string;
  base64?: string;
  bytes: number;
  at_end: boolean;
}

export interface FsSearch {
  matches: { path: string; line?: number; column?: number; text?: string }[];
  cut: boolean;
  cancelled: boolean;
}

export type GitChange =
  | "none" | "modified" | "type_changed" | "added" | "deleted" | "renamed" | "copied" | "conflicted" | "untracked";

export interface GitStatus {
  branch: { name: string; oid: string; detached: boolean; upstream?: string; ahead: number | null; behind: number | null };
  files: { path: string; from?: string; staged: GitChange; unstaged: GitChange; conflict?: string }[];
  cut: boolean;
}

export interface GitDiff {
  files: { path: string; binary: boolean; added: number | null; removed: number | null }[];
  text: string;
  cut: boolean;
}

export interface GitCommit {
  oid: string;
  parents: string[];
  author: string;
  author_email: string;
  authored_at: string;
  committed_at: string;
  refs: string;
  subject: string;
  body: string;
}

export interface GitLog {
  commits: GitCommit[];
  more: boolean;
}

export interface GitWorktrees {
  worktrees: { absolute_path: string; path?: string; oid: string; branch: string; bare: boolean; locked: boolean; gone: boolean }[];
  cut: boolean;
}

export interface ShellState {
  shell: string;
  command: string[];
  cwd: string;
  columns: number;
  rows: number;
  pid: number;
  output_begin: number;
  output_end: number;
  exit: { code?: number; signal?: number } | null;
}

export interface ShellRead {
  shell: string;
  offset: number;
  lost_bytes: number;
  text?: string;
  base64?: string;
  next_offset: number;
  output_end: number;
  exit: { code?: number; signal?: number } | null;
}
