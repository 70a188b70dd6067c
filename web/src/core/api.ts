// Every request of the page, by name. Responses are documented in docs/protocol/http.md; errors are
// ApiError.
import type { ResumeOnOpen } from "./resume_on_open";
import { Http, type ApiError } from "./http";
import { pageOf } from "./rows";
import type {
  Agent, AuditPage, Brief, DeletePreview, Density, EventsPage, Executor, Inbox, InboxCounts, NewSession, PermissionAnswer, ProbeState, PromptAnswer, PromptWhen,
  ResumeAnswer, ResumeHow, RowsPage, Rule, RuleBody, RuleOffer, RuleTrial, SearchHit, Seq, Session, Task, Token, TypedRule,
} from "./types";
import { WorkspaceApi } from "./workspace_api";

export { ApiError } from "./http";

export interface SessionsAsk {
  status?: string;
  agent?: string;
  task_id?: string;
  q?: string;
  archived?: "false" | "true" | "all";
  limit?: number;
  cursor?: string;
}

/** The initial data of a session's page, all from the same moment. */
export interface SessionPageStart {
  session: Session;
  task: Task | null;
  rows: RowsPage;
  inbox: InboxCounts;
  /** Whether opening the page may resume the agent, per the daemon's setting. */
  resume_on_open: ResumeOnOpen;
}

export class Api {
  readonly http: Http;
  constructor(key: () => string | null, onChange?: (refusal: ApiError | null) => void) {
    this.http = new Http(key, onChange);
  }

  // --- sign-in
  login(token: string): Promise<{ id: string; key: string; expires: string }> {
    return this.http.json("/api/login", { method: "POST", body: { token } });
  }
  ticket(): Promise<{ ticket: string; expires_ms: number }> {
    return this.http.json("/api/ticket", { method: "POST" });
  }
  launch(): Promise<{ token: string; url: string; expires_ms: number }> {
    return this.http.json("/api/launch", { method: "POST" });
  }
  /** Opens a WebSocket to the daemon: `/ws`, or the path of a shell. */
  async socket(path: string): Promise<WebSocket> {
    const { ticket } = await this.ticket();
    const url = new URL(path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("ticket", ticket);
    return new WebSocket(url);
  }

  // --- sessions
  sessions(ask: SessionsAsk = {}): Promise<{ sessions: Brief[]; next: string | null; log_id: string }> {
    return this.http.json("/api/sessions", { query: { ...ask } });
  }
  async session(id: string): Promise<Session> {
    return (await this.http.json<{ session: Session }>(`/api/sessions/${id}`)).session;
  }
  create(body: NewSession, key?: string): Promise<{ session: Session; seq: Seq }> {
    return this.http.json("/api/sessions", { method: "POST", body, ...(key ? { key } : {}) });
  }
  change(id: string, body: Record<string, unknown>): Promise<{ session: Session }> {
    return this.http.json(`/api/sessions/${id}`, { method: "PATCH", body });
  }
  deletePreview(id: string): Promise<DeletePreview> {
    return this.http.json(`/api/sessions/${id}/delete-preview`);
  }
  remove(id: string, force = false): Promise<{ deleted: string }> {
    return this.http.json(`/api/sessions/${id}`, { method: "DELETE", query: { confirm: true, ...(force ? { force } : {}) } });
  }
  prompt(id: string, body: { text?: string; content?: unknown[]; when?: PromptWhen }, key?: string): Promise<PromptAnswer> {
    return this.http.json(`/api/sessions/${id}/prompt`, { method: "POST", body, ...(key ? { key } : {}) });
  }
  private act(id: string, verb: string, body: unknown = {}): Promise<{ session: Session }> {
    return this.http.json(`/api/sessions/${id}/${verb}`, { method: "POST", body });
  }
  cancel(id: string, force = false): Promise<{ session: Session }> {
    return this.act(id, "cancel", force ? { force } : {});
  }
  stop(id: string, reason?: string): Promise<{ session: Session }> {
    return this.act(id, "stop", reason ? { reason } : {});
  }
  resume(id: string, body: { how?: ResumeHow; strict?: boolean; with?: string; declare_dead?: boolean } = {}): Promise<ResumeAnswer> {
    return this.http.json(`/api/sessions/${id}/resume`, { method: "POST", body });
  }
  fork(id: string, body: { at?: Seq; share_cwd?: boolean; branch?: string } = {}): Promise<{ session: Session }> {
    return this.act(id, "fork", body);
  }
  archive(id: string): Promise<{ session: Session }> {
    return this.act(id, "archive");
  }
  unarchive(id: string): Promise<{ session: Session }> {
    return this.act(id, "unarchive");
  }
  repair(id: string): Promise<{ session: Session }> {
    return this.act(id, "repair");
  }
  options(id: string, options: Record<string, string>): Promise<{ session: Session }> {
    return this.act(id, "options", options);
  }
  redact(id: string, seq: Seq): Promise<unknown> {
    return this.act(id, "redact", { seq });
  }
  releaseQueue(id: string): Promise<{ session: Session }> {
    return this.act(id, "queue/release");
  }
  editQueued(id: string, message: string, text: string): Promise<{ session: Session }> {
    return this.http.json(`/api/sessions/${id}/queue/${message}`, { method: "PATCH", body: { text } });
  }
  removeQueued(id: string, message: string): Promise<{ session: Session }> {
    return this.http.json(`/api/sessions/${id}/queue/${message}`, { method: "DELETE" });
  }

  // --- reading a session
  async page(id: string, tail = 80): Promise<SessionPageStart> {
    const raw = await this.http.json<SessionPageStart>(`/api/sessions/${id}/page`, { query: { tail } });
    return { ...raw, rows: pageOf(raw.rows) };
  }
  async rows(id: string, ask: { tail?: number; before?: Seq; around?: Seq; at?: Seq; limit?: number; log_id?: string } = {}): Promise<RowsPage> {
    return pageOf(await this.http.json<RowsPage>(`/api/sessions/${id}/rows`, { query: { ...ask } }));
  }
  async at(id: string, seq: Seq, tail = 80): Promise<{ session: Session; page: RowsPage }> {
    const raw = await this.http.json<{ session: Session; page: RowsPage }>(`/api/sessions/${id}/at`, { query: { seq, tail } });
    return { session: raw.session, page: pageOf(raw.page) };
  }
  events(id: string, ask: { after?: Seq; before?: Seq; last?: number; limit?: number; kind?: string; run?: string; log_id?: string } = {}): Promise<EventsPage> {
    return this.http.json(`/api/sessions/${id}/events`, { query: { limit: 100, ...ask } });
  }
  density(id: string, buckets = 200): Promise<Density> {
    return this.http.json(`/api/sessions/${id}/density`, { query: { buckets } });
  }
  /**
   * Fetches a large field that a record names as `{"blob": hash, "bytes": n}` in place of its
   * `update`.
   */
  blob<T = unknown>(id: string, hash: string): Promise<T> {
    return this.http.json(`/api/sessions/${id}/blobs/${hash}`);
  }
  async markdown(id: string): Promise<string> {
    return (await this.http.raw(`/api/sessions/${id}/transcript`, { accept: "text/markdown" })).text();
  }
  /** The history that a freshly started agent receives with the next prompt. */
  resumeContext(id: string): Promise<{ text: string; turns: number; turns_of: number; chars: number }> {
    return this.http.json(`/api/sessions/${id}/resume-context`);
  }
  async exportFile(id: string): Promise<Blob> {
    return (await this.http.raw(`/api/sessions/${id}/export`, { accept: "*/*" })).blob();
  }
  search(q: string, limit = 50, signal?: AbortSignal): Promise<{ hits: SearchHit[] }> {
    return this.http.json("/api/search", { query: { q, limit }, ...(signal ? { signal } : {}) });
  }
  workspace(id: string): WorkspaceApi {
    return new WorkspaceApi(this.http, id);
  }

  // --- items that wait for a person
  inbox(): Promise<Inbox> {
    return this.http.json("/api/inbox");
  }
  /**
   * `if_question`: the digest of the question that was shown; the daemon rejects the answer if it
   * differs.
   */
  answer(permission: string, answer: ({ option_id: string } | { cancel: true }) & { if_question?: string }, key?: string): Promise<PermissionAnswer> {
    return this.http.json(`/api/permissions/${permission}`, { method: "POST", body: answer, ...(key ? { key } : {}) });
  }
  rules(): Promise<{ rules: Rule[]; typed_rules: TypedRule[] }> {
    return this.http.json("/api/rules");
  }
  /** Rules that would answer an open question from now on. */
  async ruleOffers(permission: string): Promise<RuleOffer[]> {
    return (await this.http.json<{ suggested_rules: RuleOffer[] }>(`/api/permissions/${permission}/rules`)).suggested_rules;
  }
  /** The rule's effect on the questions of the last 30 days. Stores nothing. */
  tryRule(rule: RuleBody): Promise<RuleTrial> {
    return this.http.json("/api/rules/test", { method: "POST", body: rule });
  }
  addRule(rule: RuleBody | { title: string; option_kind: string; agent?: string; session_id?: string }, key?: string): Promise<unknown> {
    return this.http.json("/api/rules", { method: "POST", body: rule, ...(key ? { key } : {}) });
  }
  removeRule(id: string): Promise<unknown> {
    return this.http.json(`/api/rules/${id}`, { method: "DELETE" });
  }

  // --- tasks, agents, tokens
  tasks(): Promise<{ tasks: Task[] }> {
    return this.http.json("/api/tasks");
  }
  async task(id: string): Promise<Task> {
    return (await this.http.json<{ task: Task }>(`/api/tasks/${id}`)).task;
  }
  async createTask(body: { title: string; description?: string }, key?: string): Promise<Task> {
    return (await this.http.json<{ task: Task }>("/api/tasks", { method: "POST", body, ...(key ? { key } : {}) })).task;
  }
  async changeTask(id: string, body: { title?: string; description?: string }): Promise<Task> {
    return (await this.http.json<{ task: Task }>(`/api/tasks/${id}`, { method: "PATCH", body })).task;
  }
  removeTask(id: string): Promise<unknown> {
    return this.http.json(`/api/tasks/${id}`, { method: "DELETE" });
  }
  agents(): Promise<{ agents: Agent[] }> {
    return this.http.json("/api/agents");
  }
  probe(agent: string): Promise<ProbeState> {
    return this.http.json(`/api/agents/${encodeURIComponent(agent)}/probe`);
  }
  startProbe(agent: string): Promise<ProbeState> {
    return this.http.json(`/api/agents/${encodeURIComponent(agent)}/probe`, { method: "POST" });
  }
  executors(): Promise<{ executors: Executor[]; next: string | null }> {
    return this.http.json("/api/executors");
  }
  /** The newest entries, or the newest ones before this number. */
  audit(before?: number): Promise<AuditPage> {
    return this.http.json("/api/audit", before === undefined ? {} : { query: { before } });
  }
  tokens(): Promise<{ tokens: Token[]; browsers: Token[] }> {
    return this.http.json("/api/tokens");
  }
  createToken(body: { name: string; scopes: string[]; sessions?: string[]; expires_in_s?: number }): Promise<{ token: Token; text: string }> {
    return this.http.json("/api/tokens", { method: "POST", body });
  }
  revokeToken(id: string): Promise<unknown> {
    return this.http.json(`/api/tokens/${id}`, { method: "DELETE" });
  }
  backup(path: string): Promise<{ path: string }> {
    return this.http.json("/api/backup", { method: "POST", body: { path } });
  }
}
