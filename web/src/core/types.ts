// The daemon's responses as types; docs/protocol/http.md defines every name here. The daemon omits
// empty fields from records and rows; `core/rows.ts` fills rows in, so that components need not
// check for missing texts.

export type Seq = number;

export type Status = "interrupted_startup" | "interrupted_waiting" | "waiting" | "running" | "idle";
export type State = "STARTING" | "RUNNING" | "WAITING_FOR_INPUT" | "COMPLETED" | "FAILED" | "CANCELLED" | "ERROR";
export type ExecutorStatus = "none" | "starting" | "ready" | "error" | "stopped";
export type Liveness = "alive" | "dead" | "unknown";
export type BoundaryHow = "fresh" | "native_resume" | "native_load" | "injected" | "cleared" | "compacted" | "handover";
export type Verified = "none" | "id_only" | "partial" | "full";
export type ResumeReason = "agent_not_running" | "agent_not_running_fresh_start" | "not_resumable" | "missing_resume_token";

export interface PermissionOption {
  option_id: string;
  name: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`, or the agent's own kind. */
  kind: string;
}

export interface Deadline {
  at: string;
  granted_ms?: number;
}

/** A question that waits for a person. */
export interface Pending {
  resume_token_id?: string;
  wait_kind: "permission" | "input";
  run_id?: string;
  perm_id?: string;
  tool_call_id?: string;
  title?: string;
  options?: PermissionOption[];
  /** Digest of the whole question: an answer that names it fits no other question. */
  digest?: string;
  since: string;
  deadline?: Deadline;
  /** Absent: not answerable, because its deadline passed or its agent is gone. */
  answerable?: boolean;
}

/** A queued prompt. */
export interface Queued {
  position: number;
  message_id: string;
  for_run?: string;
  content?: string;
  blocks?: unknown;
  key?: string;
  by?: string;
  held?: boolean;
  /**
   * Being delivered into the running turn: until that ends it can be neither edited nor removed.
   */
  steering?: boolean;
}

export interface Run {
  run_id: string;
  message_id?: string;
  exec_id?: string;
  gen?: number;
  started: string;
  cancelling?: boolean;
  cancelled_by?: string;
}

export interface EndedRun {
  run_id: string;
  end: "completed" | "failed" | "cancelled" | "interrupted";
  interrupted?: "process_exit" | "process_restart" | "wait_timeout" | "wait_lost" | "forked";
  code?: string;
  message?: string;
  ended: string;
}

/** The session object. */
export interface Session {
  id: string;
  session_id: string;
  task_id: string | null;
  title: string;
  agent: string;
  agent_profile: string;
  created: string;
  updated: string;
  archived: boolean;
  seq: Seq;
  as_of: Seq;
  log_id: string;
  /** The daemon that owns it, if that is another one on the same database. */
  node?: string | null;
  status: Status;
  state: State;
  executor_status: ExecutorStatus;
  liveness: Liveness;
  /** Why the liveness is unknown, if there is a reason. */
  liveness_reason?: string | null;
  runtime: string;
  /** Only for a session in a container. */
  image?: string | null;
  container_id?: string | null;
  /** How far the agent is confined: `full`, `partial`, `none`; null: not known. */
  confinement?: string | null;
  confinement_reason?: string | null;
  agent_execution_id: string | null;
  is_agent_running: boolean;
  active: boolean;
  agent_session_id: string | null;
  acp_caps: { resume: boolean; load: boolean };
  supports_session_resume: boolean;
  supports_workspace_only: boolean;
  requires_new_session: boolean;
  context: BoundaryHow | null;
  context_verified: Verified;
  stop_reason: string | null;
  needs_resume: boolean;
  is_resumable: boolean;
  resume_reason: ResumeReason | null;
  error_code: string | null;
  error_message: string | null;
  /**
   * The agent's provider accepts no work until `reset_at`. `at_reset`: `continued`, or why it does
   * not continue automatically.
   */
  limit?: { reset_at: string; at_reset: string } | null;
  /** Only if the agent needs a login. */
  login_hint?: string | null;
  connections: number;
  active_runs: number;
  pending: Pending[];
  queue: Queued[];
  queue_length: number;
  queue_held: boolean;
  cwd: string | null;
  worktree_id: string | null;
  worktree_path: string | null;
  worktree_branch: string | null;
  metadata: { resume_token: string | null };
  run: Run | null;
  last_run: EndedRun | null;
  options: Record<string, string>;
  history_enabled: boolean;
  needs_resume_context: boolean;
  resume_context_injected: boolean;
}

/** A row of GET /api/sessions, for lists. */
export interface Brief {
  id: string;
  session_id: string;
  task_id: string | null;
  title: string;
  agent: string;
  status: Status;
  state: State;
  stop_reason: string | null;
  cwd: string | null;
  created: string | null;
  updated: string;
  archived: boolean;
  /** How many questions are open. */
  pending: number;
  pending_since: string | null;
  queue_length: number;
  needs_resume: boolean;
  is_resumable: boolean;
  error_message: string | null;
  damaged: boolean;
  /** As in Session. */
  node?: string | null;
}

/** A record as served. The fields of its kind are next to those of the envelope. */
export interface RecordEnvelope {
  id?: string;
  type?: string;
  v: number;
  seq: Seq;
  ts: string;
  kind: string;
  prev?: string;
  run_id?: string;
  exec_id?: string;
  gen?: number;
  frame?: number;
  after_run?: string;
  origin?: string;
  [field: string]: unknown;
}

export type Role = "user" | "assistant" | "tool_call" | "tool_result";
export type Outcome = "open" | "done" | "interrupted" | "unknown";

interface Place {
  /** Stable: the seq of the record that opened it, with `.result` appended for a tool's result. */
  id: string;
  seq: Seq;
  /** Seq of the last record that changed it. */
  rev: Seq;
}

export interface MessageRow extends Place {
  role: Role;
  /** The text of a message or result; for a tool call, its input in short. */
  content: string;
  /** Assistant only. */
  thinking: string;
  thinking_complete: boolean;
  timestamp: string;
  message_id: string;
  agent_message_id: string;
  agent_thought_id: string;
  /** Joins a tool call and its result. */
  tool_call_id: string;
  title: string;
  tool_kind: string;
  /** A tool's status, in the agent's words: pending, in_progress, completed, failed, cancelled. */
  status: string;
  run_id: string;
  after_run: string;
  outcome: Outcome;
  steered: boolean;
  /** Content that is not plain text, in ACP's format. */
  blocks: unknown;
}

/**
 * An event between messages. The record is one of permission.requested, context.boundary,
 * executor.reattached, session.stopped, run.failed, run.interrupted, resume.failed, executor.error.
 */
export interface MarkRow extends Place {
  role: "mark";
  record: RecordEnvelope;
}

export type Row = MessageRow | MarkRow;

export interface RowsPage {
  log_id: string;
  as_of: Seq;
  has_older: boolean;
  has_newer: boolean;
  /** Rows before this no longer change; 0: every row of the page may change. */
  segment_seq: Seq;
  total: number | null;
  rows: Row[];
}

export interface EventsPage {
  log_id: string;
  as_of: Seq;
  head: Seq;
  events: RecordEnvelope[];
  first: Seq;
  last: Seq;
  more: boolean;
}

export type MarkKind = "prompt" | "boundary" | "failure" | "permission" | "restart" | "stop";

export interface Density {
  as_of: Seq;
  buckets: { from: string; records: number; first_seq: Seq; last_seq: Seq }[];
  marks: { seq: Seq; ts: string; kind: MarkKind }[];
  marks_left_out: number;
}

export type InboxKind = "permission" | "input" | "expired" | "interrupted" | "failed" | "held";

export interface InboxItem {
  kind: InboxKind;
  session_id: string;
  task_id?: string;
  session_title: string;
  text?: string;
  since: string;
  age_ms?: number;
  run_id?: string;
  resume_token_id?: string;
  perm_id?: string;
  tool_call_id?: string;
  options?: PermissionOption[];
  /** As in Pending. */
  digest?: string;
  deadline?: Deadline;
  prompts_held?: number;
}

export type InboxCounts = Record<InboxKind | "total", number>;
export interface Inbox {
  counts: InboxCounts;
  items: InboxItem[];
}

export type TaskState = "TODO" | "IN_PROGRESS" | "REVIEW" | "DONE" | "FAILED";

export interface TaskSession {
  id: string;
  session_id: string;
  title: string;
  agent: string;
  status: Status;
  state: State;
  updated: string;
  archived: boolean;
}

export interface Task {
  id: string;
  task_id: string;
  title: string;
  description: string;
  state: TaskState;
  created: string;
  by: string;
  sessions: TaskSession[];
}

export interface Agent {
  name: string;
  title: string;
  default: boolean;
  command: string[];
  env_names: string[];
  supports_session_resume: boolean;
  native_session_resume: boolean;
  history_context_injection: boolean;
  steer: boolean;
  measured: boolean;
  measured_version: string;
  abilities: string[];
  built_in: boolean;
  presence: "installed" | "npx" | "missing";
  install: string;
  resume_command: string;
  fork_command: string;
  continue_command: string;
  login_hint: string;
  quirks: Record<string, unknown>;
  probing?: boolean;
  probe?: ProbeReport;
}

export interface ProbeStep {
  name: string;
  outcome: "yes" | "partly" | "no" | "failed" | "skipped";
  ms?: number;
  says?: string;
}

export interface ProbeReport {
  at: string;
  program?: string;
  program_version?: string;
  rung: string;
  steps: ProbeStep[];
}

/** The running probe, or the last one. */
export interface ProbeState {
  running: boolean;
  steps: ProbeStep[];
  error: string;
  report?: ProbeReport;
}

export interface Executor {
  id: string | null;
  session_id: string;
  task_id: string | null;
  gen: number;
  status: ExecutorStatus;
  runtime: string;
  url: string | null;
  container_id: string | null;
  pid: number;
  supports_session_resume: boolean;
  supports_workspace_only: boolean;
  resume_token: string | null;
  workspace: { cwd?: string; worktree_id?: string; worktree_path?: string; worktree_branch?: string };
  last_seen_at: string | null;
  error_message: string | null;
}

export type RungName = "attach" | "resume" | "load" | "inject" | "new" | "none";

export interface Receipt {
  rung: number;
  rung_name: RungName;
  how: string;
  agent_session_id: string | null;
  verified: Verified;
  inject_armed: boolean;
  injected: unknown;
  lost: string[];
  reason: string;
  attempts: { method: string; failure: string; message?: string }[];
  already_running: boolean;
}

export interface ResumeAnswer {
  session: Session;
  receipt: Receipt;
  pending: boolean;
  already_running: boolean;
}

export interface PromptAnswer {
  session: Session;
  seq: Seq;
  message_id: string;
  placed: string;
  run_id?: string;
  queue_position?: number;
}

export interface PermissionAnswer {
  session: Session;
  outcome: "selected" | "cancelled" | "expired";
  option_id?: string;
  option_name?: string;
  decided_by?: string;
}

export interface DeletePreview {
  session_id: string;
  title: string;
  records: number;
  bytes: number;
  blobs: number;
  blob_bytes: number;
  workspace: string | null;
  worktree_path: string | null;
  open_run: boolean;
  needs_force: boolean;
}

export interface SearchHit {
  session_id: string;
  seq: Seq;
  title: string;
  /** Matches are between \u0002 and \u0003. */
  snippet: string;
}

/** A rule for one question, matched verbatim. */
export interface Rule {
  id: string;
  session_id?: string | null;
  agent?: string | null;
  title: string;
  option_kind: string;
  created: string;
  by: string;
}

export type RuleEffect = "allow" | "ask" | "deny";
/** A typed rule as submitted: every given part must match. */
export interface RuleBody {
  effect: RuleEffect;
  tools?: string[];
  /** `workspace`, `outside`, or an absolute folder. */
  path?: string;
  /** The first words of a command. */
  argv?: string[];
  agent?: string;
  session_id?: string;
  folder?: string;
}
export interface TypedRule {
  id: string;
  effect: RuleEffect;
  tools: string[];
  path: string | null;
  argv: string[];
  agent: string | null;
  session_id: string | null;
  folder: string | null;
  option_kind: string | null;
  created: string;
  by: string;
  text: string;
}
/** A rule that would answer an open question. */
export interface RuleOffer {
  text: string;
  rule: RuleBody;
}
/** A past question that a rule would have decided. */
export interface TriedQuestion {
  session_id: string;
  session_title: string;
  perm_id: string;
  seq: Seq;
  ts: string;
  title: string;
  command: string | null;
  /** The kind of the chosen option, or `cancelled`, `expired`, `open`. */
  answer: string;
  by: string | null;
  /** Another rule, which asks or denies, would have taken precedence. */
  overruled: boolean;
}
export interface RuleTrial {
  effect: RuleEffect;
  text: string;
  days: number;
  questions: number;
  matched: number;
  overruled: number;
  answered_otherwise: number;
  complete: boolean;
  list: TriedQuestion[];
}

/** An entry of the audit trail. */
export interface AuditEntry {
  seq: Seq;
  ts: string;
  what: string;
  by: string;
  how: string;
  from: string;
  on: string[];
  outcome: string;
  text: string;
  count: number;
  /** The number of the entry whose outcome this is. */
  of: Seq | null;
  node: string | null;
}

export interface AuditPage {
  entries: AuditEntry[];
  more: boolean;
}

export interface Token {
  id: string;
  name?: string;
  scopes?: string[];
  sessions?: string[];
  created: string;
  expires?: string | null;
  last_used?: string | null;
  by?: string;
}

export interface NewSession {
  agent?: string;
  cwd?: string;
  worktree?: { branch?: string };
  prompt?: string | { text: string } | { content: unknown[] };
  title?: string;
  task_id?: string;
  resume?: "on_demand" | "on_boot" | "manual";
  inject?: "auto" | "ask" | "off";
  survive?: boolean;
  auto_continue?: boolean;
  wait_ms?: number;
}

export type PromptWhen = "auto" | "queue" | "interrupt" | "steer";
export type ResumeHow = "auto" | "resume" | "load" | "inject" | "fresh";

/** What remains of a deleted session. */
export interface Tombstone {
  title: string;
  deleted: string;
  by: string;
}

export function tombstoneOf(raw: unknown): Tombstone | null {
  const { title, deleted, by } = (raw ?? {}) as Partial<Tombstone>;
  return typeof deleted === "string" ? { title: title ?? "", deleted, by: by ?? "" } : null;
}
