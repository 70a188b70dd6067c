// Files, git and shells of one session over HTTP. They work with or without an agent.
import type { Ask, Http } from "./http";
import type {
  FsEntry, FsList, FsRead, FsSearch, GitCommit, GitDiff, GitLog, GitStatus, GitWorktrees, ShellRead, ShellState,
} from "./workspace_types";

export class WorkspaceApi {
  constructor(
    private readonly http: Http,
    readonly session: string,
  ) {}

  private get<T>(call: string, query: Ask["query"] = {}, signal?: AbortSignal): Promise<T> {
    return this.http.json<T>(`/api/sessions/${this.session}/${call}`, signal ? { query, signal } : { query });
  }
  private post<T>(call: string, body: unknown = {}): Promise<T> {
    return this.http.json<T>(`/api/sessions/${this.session}/${call}`, { method: "POST", body });
  }

  list(path = "", after?: string, signal?: AbortSignal): Promise<FsList> {
    return this.get("fs/list", { path, after }, signal);
  }
  stat(path: string): Promise<FsEntry> {
    return this.get("fs/stat", { path });
  }
  read(path: string, query: { offset?: number; bytes?: number; as?: "auto" | "text" | "base64" } = {}): Promise<FsRead> {
    return this.get("fs/read", { path, ...query });
  }
  search(query: {
    name?: string; content?: string; path?: string; regex?: boolean; ignore_case?: boolean; max?: number; search_id?: string;
  }, signal?: AbortSignal): Promise<FsSearch> {
    return this.get("fs/search", query, signal);
  }
  cancelSearch(search_id: string): Promise<{ cancelled: number }> {
    return this.post("fs/search_cancel", { search_id });
  }
  write(body: { path: string; text?: string; base64?: string; expected?: string; parents?: boolean }): Promise<FsEntry> {
    return this.post("fs/write", body);
  }
  makeFolder(path: string, parents = true): Promise<object> {
    return this.post("fs/mkdir", { path, parents });
  }
  remove(path: string, recursive = false): Promise<{ removed: number }> {
    return this.post("fs/remove", { path, recursive });
  }
  rename(from: string, to: string, replace = false): Promise<object> {
    return this.post("fs/rename", { from, to, replace });
  }

  gitStatus(untracked: "folders" | "all" | "none" = "all", signal?: AbortSignal): Promise<GitStatus> {
    return this.get("git/status", { untracked }, signal);
  }
  gitDiff(query: { of?: "unstaged" | "staged" | "since"; commit?: string; paths?: string[] } = {}, signal?: AbortSignal): Promise<GitDiff> {
    return this.get("git/diff", query, signal);
  }
  gitLog(query: { from?: string; path?: string; skip?: number; max?: number } = {}): Promise<GitLog> {
    return this.get("git/log", query);
  }
  gitShow(commit: string): Promise<GitCommit & GitDiff> {
    return this.get("git/show", { commit });
  }
  gitWorktrees(): Promise<GitWorktrees> {
    return this.get("git/worktrees");
  }
  gitStage(paths: string[]): Promise<object> {
    return this.post("git/stage", { paths });
  }
  gitUnstage(paths: string[]): Promise<object> {
    return this.post("git/unstage", { paths });
  }
  gitCommit(message: string): Promise<GitCommit> {
    return this.post("git/commit", { message });
  }

  shells(): Promise<{ shells: ShellState[] }> {
    return this.get("shells");
  }
  shellRead(shell: string, offset: number): Promise<ShellRead> {
    return this.get("shells/read", { shell, offset });
  }
  shellClose(shell: string): Promise<object> {
    return this.post("shells/close", { shell });
  }
  /** Path of the shell's WebSocket; `Api.socket` opens it with a ticket. */
  shellSocketPath(query: { shell?: string; offset?: number; columns?: number; rows?: number }): string {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) text.set(name, String(value));
    return `/api/sessions/${this.session}/shell?${text.toString()}`;
  }
}
