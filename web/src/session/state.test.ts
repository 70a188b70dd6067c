// Every row of the table of session states: chip, banner, actions, composer, panels.
import { describe, expect, it } from "vitest";
import type { Session } from "../core/types";
import { stateOf, type Beside } from "./state";

const base: Session = {
  id: "s", session_id: "s", task_id: null, title: "t", agent: "codex", agent_profile: "codex", created: "", updated: "", archived: false,
  seq: 1, as_of: 1, log_id: "l", status: "idle", state: "WAITING_FOR_INPUT", executor_status: "ready", liveness: "alive", runtime: "standalone",
  agent_execution_id: "e", is_agent_running: true, active: true, agent_session_id: "a", acp_caps: { resume: true, load: true },
  supports_session_resume: true, supports_workspace_only: true, requires_new_session: false, context: "fresh", context_verified: "none",
  stop_reason: null, needs_resume: false, is_resumable: true, resume_reason: null, error_code: null, error_message: null, connections: 0,
  active_runs: 0, pending: [], queue: [], queue_length: 0, queue_held: false, cwd: "/w", worktree_id: null, worktree_path: null,
  worktree_branch: null, metadata: { resume_token: "a" }, run: null, last_run: null, options: {}, history_enabled: true,
  needs_resume_context: false, resume_context_injected: false,
};
const run = { run_id: "r", started: "2026-01-01T00:00:00Z" };
const ended = { run_id: "r", end: "completed" as const, ended: "" };
const interrupted = { run_id: "r", end: "interrupted" as const, interrupted: "process_restart" as const, ended: "" };
const gone = { executor_status: "stopped", liveness: "dead", is_agent_running: false, active: false } as const;
const question = { wait_kind: "permission" as const, perm_id: "p", since: "", answerable: true };

type Row = readonly [name: string, session: Partial<Session>, wanted: { key: string; word: string; acts: string[]; mode: string; live?: boolean; stop?: boolean; auto?: boolean }, beside?: Partial<Beside>];
const rows: readonly Row[] = [
  ["created", { ...gone, executor_status: "none", agent_session_id: null, context: null, metadata: { resume_token: null } },
    { key: "created", word: "Ready", acts: [], mode: "send" }],
  ["executor starting", { executor_status: "starting", state: "STARTING", is_agent_running: false },
    { key: "executor_starting", word: "Starting", acts: ["cancel"], mode: "queue", live: false }],
  ["agent starting", { state: "STARTING", is_agent_running: false, agent_session_id: null, context: null },
    { key: "agent_starting", word: "Starting agent", acts: ["cancel"], mode: "queue", live: true }],
  ["running", { status: "running", state: "RUNNING", run }, { key: "running", word: "Running", acts: [], mode: "queue", stop: true }],
  ["stopping", { status: "running", state: "RUNNING", run: { ...run, cancelling: true } }, { key: "stopping", word: "Stopping", acts: [], mode: "queue" }],
  ["waiting: permission", { status: "waiting", run, pending: [question] }, { key: "needs_answer", word: "Needs your answer", acts: [], mode: "queue", stop: true }],
  ["waiting for input", { last_run: ended }, { key: "ready", word: "Ready", acts: [], mode: "send" }],
  ["agent not running, can resume", { ...gone, needs_resume: true, resume_reason: "agent_not_running" },
    { key: "can_resume", word: "Agent not running", acts: ["resume", "fresh"], mode: "resume", auto: true }],
  ["resuming, as the daemon says", { state: "STARTING", is_agent_running: false, last_run: ended }, { key: "resuming", word: "Starting agent", acts: ["cancel"], mode: "queue" }],
  ["resuming, as this page asked", { ...gone, needs_resume: true, resume_reason: "agent_not_running" },
    { key: "resuming", word: "Starting agent", acts: ["cancel"], mode: "queue" }, { resuming: true }],
  ["cannot resume", { ...gone, needs_resume: true, resume_reason: "agent_not_running_fresh_start", metadata: { resume_token: null } },
    { key: "cannot_resume", word: "Agent not running", acts: ["fresh", "preview", "new"], mode: "resume", auto: true }],
  ["cannot resume, as its agent has said", { ...gone, needs_resume: true, resume_reason: "agent_not_running", acp_caps: { resume: false, load: false } },
    { key: "cannot_resume", word: "Agent not running", acts: ["fresh", "preview", "new"], mode: "resume", auto: true }],
  ["cannot resume at all (L12, L15)", { ...gone, state: "ERROR", error_code: "not_resumable", is_resumable: false, resume_reason: "not_resumable", last_run: ended, metadata: { resume_token: null } },
    { key: "lost", word: "Agent not running", acts: ["new"], mode: "off" }],
  ["resume failed, started fresh", { context: "injected", needs_resume_context: true, last_run: ended }, { key: "history_armed", word: "Ready", acts: ["preview"], mode: "send" }],
  ["interrupted while running", { ...gone, status: "interrupted_startup", needs_resume: true, resume_reason: "agent_not_running", last_run: interrupted },
    { key: "can_resume", word: "Agent not running", acts: ["resume", "fresh", "retry"], mode: "resume", auto: true }],
  ["interrupted while waiting: the question is no more", { ...gone, status: "interrupted_waiting", needs_resume: true, resume_reason: "agent_not_running", last_run: interrupted, pending: [{ ...question, answerable: false }] },
    { key: "can_resume", word: "Agent not running", acts: ["resume", "fresh", "retry"], mode: "resume", auto: true }],
  ["executor error (L33)", { executor_status: "error", state: "ERROR", liveness: "dead", is_agent_running: false, error_message: "exited with 137" },
    { key: "executor_error", word: "Executor error", acts: ["restart", "details"], mode: "resume", live: false }],
  ["executor stopped", { ...gone, last_run: ended, stop_reason: "stopped_by_user", state: "COMPLETED" },
    { key: "can_resume", word: "Agent not running", acts: ["resume", "fresh"], mode: "resume" }],
  ["failed", { ...gone, state: "FAILED", error_code: "agent_error", error_message: "boom" }, { key: "failed", word: "Failed", acts: ["resume", "fresh"], mode: "resume" }],
  ["failed at its first start", { ...gone, state: "FAILED", agent_session_id: null, context: null, metadata: { resume_token: null } }, { key: "failed", word: "Failed", acts: ["resume", "new"], mode: "resume" }],
  ["failed for good", { ...gone, state: "FAILED", is_resumable: false }, { key: "failed", word: "Failed", acts: ["new"], mode: "off" }],
  ["completed", { ...gone, state: "COMPLETED", stop_reason: "completed", last_run: ended }, { key: "completed", word: "Completed", acts: [], mode: "resume" }],
  ["cancelled", { ...gone, state: "CANCELLED", stop_reason: "cancelled", last_run: ended }, { key: "cancelled", word: "Cancelled", acts: [], mode: "resume" }],
  ["archived", { archived: true }, { key: "archived", word: "Archived", acts: ["unarchive", "new"], mode: "off" }],
  ["P13 a limit", { status: "waiting", error_code: "rate_limited", last_run: ended, limit: { reset_at: "2030-01-01T00:00:00.000Z", at_reset: "continued" } }, { key: "limited", word: "Waiting for a limit", acts: [], mode: "send" }],
  ["P12 a login is missing", { error_code: "auth_needed", error_message: "no key", login_hint: "codex login", last_run: ended }, { key: "login", word: "Needs a login", acts: [], mode: "send" }],
  ["P12 a login is missing at the start", { ...gone, state: "FAILED", error_code: "auth", error_message: "no key" }, { key: "login", word: "Needs a login", acts: ["resume"], mode: "resume" }],
  ["held queue", { queue_held: true, queue: [{ position: 1, message_id: "m" }] }, { key: "held", word: "Ready", acts: ["release"], mode: "send" }],
  ["nobody knows", { status: "running", run, liveness: "unknown" }, { key: "unknown", word: "Agent not running", acts: ["declare_dead"], mode: "queue", stop: true }],
];

describe("session states", () => {
  for (const [name, session, wanted, beside] of rows) it(name, () => {
    const shown = stateOf({ ...base, ...session }, { agent: "Codex", ...beside });
    expect(shown.key).toBe(wanted.key);
    expect(shown.chip.word).toBe(wanted.word);
    expect(shown.banner?.actions.map((action) => action.act) ?? []).toEqual(wanted.acts);
    expect(shown.composer.mode).toBe(wanted.mode);
    if (wanted.live !== undefined) expect(shown.workspace.live).toBe(wanted.live);
    expect(shown.canStop).toBe(wanted.stop ?? false);
    expect(shown.resumesOnOpen).toBe(wanted.auto ?? false);
  });

  const lost: Session = { ...base, ...gone, needs_resume: true, resume_reason: "agent_not_running" };
  it("resumes on opening as the setting says (K6, L32)", () => {
    expect(stateOf(lost, { agent: "", resumeOnOpen: "never" }).resumesOnOpen).toBe(false);
    expect(stateOf(lost, { agent: "", resumeOnOpen: "active" }).resumesOnOpen).toBe(true);
    const stopped: Session = { ...base, ...gone, state: "COMPLETED", stop_reason: "stopped_by_user", last_run: ended };
    expect(stateOf(stopped, { agent: "", resumeOnOpen: "active" }).resumesOnOpen).toBe(false);
    expect(stateOf(stopped, { agent: "", resumeOnOpen: "always" }).resumesOnOpen).toBe(true);
    const completed: Session = { ...stopped, stop_reason: "completed" };
    expect(stateOf(completed, { agent: "", resumeOnOpen: "always" }).resumesOnOpen).toBe(false);
    expect(stateOf({ ...lost, archived: true }, { agent: "", resumeOnOpen: "always" }).resumesOnOpen).toBe(false);
    expect(stateOf({ ...lost, is_resumable: false }, { agent: "" }).resumesOnOpen).toBe(false);
  });

  it("keeps the panels after a resume that failed (L37)", () => {
    const shown = stateOf({ ...lost, executor_status: "ready" }, { agent: "Codex", resumeError: "The session is unknown." });
    expect(shown.workspace.live).toBe(true);
    expect(shown.banner?.text).toContain("The session is unknown.");
    expect(shown.banner?.actions[0]?.act).toBe("resume");
  });

  it("has one primary action at most", () => {
    for (const [, session, , beside] of rows) {
      const banner = stateOf({ ...base, ...session }, { agent: "Codex", ...beside }).banner;
      expect(banner?.actions.filter((action) => action.primary).length ?? 0).toBeLessThanOrEqual(1);
    }
  });
});
