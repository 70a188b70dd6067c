// The content of a session's page for each state: the chip, the workspace's word, the banner with
// its actions, and the composer's behaviour. One pure function over the session object; the test
// has one row for each row of the table of states. The agent and the executor are separate facts.
import { resumesOnOpen, type ResumeOnOpen } from "../core/resume_on_open";
import { faceOf, type Face } from "../core/session_face";
import type { Pending, Session } from "../core/types";

export type Act =
  | "resume" | "fresh" | "preview" | "restart" | "details" | "new" | "cancel" | "release" | "retry" | "unarchive" | "declare_dead" | "workspace";
export interface Action {
  readonly act: Act;
  readonly label: string;
  readonly primary?: boolean;
  readonly hint?: string;
}
export interface Banner {
  readonly glyph: Face["glyph"] | "past";
  readonly tone: "plain" | "needs" | "failure";
  readonly title: string;
  readonly text: string;
  readonly actions: readonly Action[];
}
export type ComposerMode = "send" | "queue" | "resume" | "off";
export interface Composer {
  readonly mode: ComposerMode;
  readonly placeholder: string;
}
export type StateKey =
  | "archived" | "needs_answer" | "executor_starting" | "agent_starting" | "resuming" | "running" | "stopping" | "unknown"
  | "executor_error" | "failed" | "can_resume" | "cannot_resume" | "lost" | "held" | "history_armed" | "completed" | "cancelled" | "created" | "ready" | "limited" | "login";
export interface Shown {
  readonly key: StateKey;
  readonly chip: Pick<Face, "glyph" | "tone" | "word">;
  readonly workspace: Workspace;
  readonly banner: Banner | null;
  readonly composer: Composer;
  readonly canStop: boolean;
  /** Opening the page resumes the agent, once (K6). */
  readonly resumesOnOpen: boolean;
}
// Inputs outside the session object.
export interface Beside {
  readonly agent: string; // its title
  readonly resuming?: boolean; // this page has requested a resume
  readonly resumeError?: string; // the error of that resume
  readonly resumeOnOpen?: ResumeOnOpen;
}

export interface Workspace {
  readonly live: boolean; // the panels work
  readonly word: string;
  readonly reason: string; // why they do not work
}

export function workspaceOf(session: Session): Workspace {
  const where = session.runtime === "standalone" || session.runtime === "" ? "local" : session.runtime;
  switch (session.executor_status) {
    case "ready": return { live: true, word: `${where}, ready`, reason: "" };
    case "starting": return { live: false, word: `${where}, starting`, reason: "The workspace is being prepared." };
    case "error": return { live: false, word: `${where}, error`, reason: session.error_message ?? "The workspace could not be started." };
    case "stopped": return { live: session.supports_workspace_only, word: `${where}, off`, reason: "The workspace is off." };
    default: return { live: true, word: where, reason: "" };
  }
}

const resume: Action = { act: "resume", label: "Resume session", primary: true, hint: "R" };
const fresh: Action = { act: "fresh", label: "Start fresh with history" };
const preview: Action = { act: "preview", label: "Preview history" };
const newSession: Action = { act: "new", label: "New session" };
const send: Composer = { mode: "send", placeholder: "Send a message" };
const queue: Composer = { mode: "queue", placeholder: "Send a message. It will be queued until the agent is free." };
const resumes: Composer = { mode: "resume", placeholder: "Or just write. Sending a message resumes the agent first." };

export const openQuestions = (session: Session): Pending[] => session.pending.filter((item) => item.answerable === true);

// Whether the agent can reopen its own session, as far as is known before a try.
export function resumesItself(session: Session): boolean {
  const able = session.acp_caps.resume || session.acp_caps.load || session.agent_execution_id === null;
  return able && session.metadata.resume_token !== null && session.supports_session_resume && session.resume_reason !== "agent_not_running_fresh_start";
}

function hasHistory(session: Session): boolean {
  return session.last_run !== null || session.agent_session_id !== null || session.context !== null;
}

function keyOf(session: Session, beside: Beside): StateKey {
  if (session.archived) return "archived";
  if (openQuestions(session).length > 0) return "needs_answer";
  if (session.executor_status === "starting") return "executor_starting";
  if (session.state === "STARTING" || beside.resuming) return hasHistory(session) ? "resuming" : "agent_starting";
  if (session.liveness === "unknown" && session.run) return "unknown";
  if (session.status === "running") return session.run?.cancelling ? "stopping" : "running";
  return keyAtRest(session);
}

const needsLogin = (session: Session): boolean => session.error_code === "auth_needed" || session.error_code === "auth";

function keyAtRest(session: Session): StateKey {
  if (session.limit) return "limited";
  if (needsLogin(session) && session.is_resumable) return "login";
  const isBeyondResume = !session.is_resumable && session.error_code === "not_resumable";
  if ((session.state === "ERROR" && !isBeyondResume) || session.executor_status === "error") return "executor_error";
  if (session.state === "FAILED") return "failed";
  if (session.state === "CANCELLED") return "cancelled";
  if (session.state === "COMPLETED" && session.stop_reason === "completed") return "completed";
  if (session.is_agent_running) return keyWithAgent(session);
  const interrupted = session.status === "interrupted_startup" || session.status === "interrupted_waiting";
  const stopped = session.state === "COMPLETED";
  if (!session.needs_resume && !interrupted && !stopped && !hasHistory(session)) return "created";
  if (!session.is_resumable) return "lost";
  return resumesItself(session) ? "can_resume" : "cannot_resume";
}

function keyWithAgent(session: Session): StateKey {
  if (session.queue_held && session.queue.length > 0) return "held";
  if (session.needs_resume_context && session.context === "injected") return "history_armed";
  return "ready";
}

const stayNote = "Files, shell and changes stay available meanwhile.";

function interruption(session: Session): string {
  switch (session.last_run?.interrupted) {
    case "process_restart": return "It stopped in the middle of its work when the daemon restarted. ";
    case "process_exit": return "It stopped in the middle of its work. ";
    case "wait_timeout": return "Its question was not answered in time. ";
    case "wait_lost": return "It was lost while it waited for an answer. ";
    default: return "";
  }
}

function bannerOf(key: StateKey, session: Session, beside: Beside): Banner | null {
  const { agent } = beside;
  const failed = beside.resumeError ? `${beside.resumeError} ` : "";
  switch (key) {
    case "archived":
      return { glyph: "done", tone: "plain", title: "Archived", text: "It can be read, and takes no new work.", actions: [{ act: "unarchive", label: "Unarchive", primary: true }, newSession] };
    case "executor_starting":
      return { glyph: "starting", tone: "plain", title: "Preparing workspace", text: "Files and shell open as soon as it is ready. What you write now is queued.", actions: [{ act: "cancel", label: "Cancel" }] };
    case "agent_starting":
      return { glyph: "starting", tone: "plain", title: "Starting the agent", text: `${agent} is starting. What you write now is queued.`, actions: [{ act: "cancel", label: "Cancel" }] };
    case "resuming":
      return { glyph: "starting", tone: "plain", title: "Resuming", text: `${agent} is being brought back. Nothing is sent to it.`, actions: [{ act: "cancel", label: "Cancel" }] };
    case "stopping":
      return { glyph: "starting", tone: "plain", title: "Stopping", text: `${agent} was asked to stop.`, actions: [] };
    case "unknown":
      return { glyph: "stopped", tone: "needs", title: "Is the agent still there?", text: "Its process cannot be reached just now. Perdure keeps trying.", actions: [{ act: "declare_dead", label: "Take it for dead and resume" }] };
    case "executor_error":
      return { glyph: "failed", tone: "failure", title: "Executor error", text: `${failed}${sentence(session.error_message) || "The workspace could not be started. "}The transcript is complete up to that moment.`, actions: [{ act: "restart", label: "Restart executor", primary: true }, { act: "details", label: "View log" }] };
    case "limited":
      return { glyph: "stopped", tone: "needs", title: `The agent's limit is used up until ${resetTime(session)}`, text: limitText(session), actions: [] };
    case "login":
      return { glyph: "needs", tone: "needs", title: "The agent needs a login", text: `${failed}${sentence(session.error_message)}${session.login_hint ? `Log in with: ${session.login_hint}. ` : ""}Then write again.`, actions: session.is_agent_running ? [] : [{ ...resume, label: "Try again" }] };
    case "failed":
      return { glyph: "failed", tone: "failure", title: failureTitle(session), text: failed.includes(session.error_message ?? "") && failed ? failed : `${failed}${sentence(session.error_message)}`, actions: failedActions(session) };
    case "can_resume":
      return { glyph: "stopped", tone: "plain", title: "The agent is not running", text: `${failed}${interruption(session)}${agent} can restore this conversation itself. ${workspaceNote(session)}`, actions: [resume, fresh, ...retry(session)] };
    case "cannot_resume":
      return { glyph: "needs", tone: "plain", title: "This agent cannot resume", text: `${failed}${interruption(session)}${agent} keeps no session. Start fresh and it gets a summary of this history with your next message, or create a new session. This one stays readable.`, actions: [{ ...fresh, primary: true }, preview, newSession] };
    case "lost":
      return { glyph: "needs", tone: "plain", title: "This agent cannot resume", text: `${failed}${agent} cannot go on with this conversation. Create a new session; this one stays readable.`, actions: [{ ...newSession, label: "Create new session", primary: true }] };
    case "held":
      return { glyph: "needs", tone: "needs", title: session.queue.length === 1 ? "A message is held back" : `${session.queue.length} messages are held back`, text: "The turn before them did not end well. They go on when you say so.", actions: [{ act: "release", label: "Send them now", primary: true }] };
    case "history_armed":
      return { glyph: "needs", tone: "plain", title: "Started fresh, history kept", text: `${agent} does not know this conversation any more. Your next message carries a summary of it.`, actions: [preview] };
    default: return null;
  }
}

function sentence(text: string | null): string {
  const clean = (text ?? "").trim();
  if (!clean) return "";
  const first = clean.charAt(0).toUpperCase() + clean.slice(1);
  return `${first}${/[.!?]$/.test(first) ? "" : "."} `;
}

function workspaceNote(session: Session): string {
  return session.executor_status === "stopped" || session.executor_status === "none" ? "The workspace is off; files and shell start it." : stayNote;
}

function resetTime(session: Session): string {
  const at = new Date(session.limit?.reset_at ?? "");
  const near = at.getTime() - Date.now() < 20 * 3600_000;
  return near ? at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

function limitText(session: Session): string {
  switch (session.limit?.at_reset) {
    case "continued": return "It goes on by itself then. Nothing is lost meanwhile.";
    case "too_often": return "It went on by itself as often as it may. Write to it then.";
    case "too_late": return "That is later than it may go on by itself. Write to it then.";
    case "tool_open": return "A tool call was cut off, so it does not go on by itself. Look, and write to it then.";
    default: return "It does not go on by itself. Write to it then.";
  }
}

function failureTitle(session: Session): string {
  if (session.error_code === "auth_needed") return "The agent needs a login";
  if (session.error_code === "rate_limited") return "The agent's limit is used up";
  return "The agent failed";
}

function failedActions(session: Session): Action[] {
  if (!session.is_resumable) return [{ ...newSession, label: "Create new session", primary: true }];
  if (!hasHistory(session)) return [{ ...resume, label: "Try again" }, newSession];
  return resumesItself(session) ? [resume, fresh] : [{ ...fresh, primary: true }, newSession];
}

// An interrupted turn can be sent again.
function retry(session: Session): Action[] {
  return session.last_run?.end === "interrupted" ? [{ act: "retry", label: "Retry the last prompt" }] : [];
}

function composerOf(key: StateKey, session: Session): Composer {
  switch (key) {
    case "archived": return { mode: "off", placeholder: "Archived sessions take no messages." };
    case "lost": return { mode: "off", placeholder: "This agent cannot resume." };
    case "running": case "needs_answer": case "stopping": case "executor_starting": case "agent_starting": case "resuming": case "unknown": return queue;
    case "can_resume": return resumes;
    case "limited": case "login": return session.is_agent_running ? send : resumes;
    case "cannot_resume": return { mode: "resume", placeholder: "Or just write. The agent starts fresh and gets this history first." };
    case "executor_error": return { mode: "resume", placeholder: "Messages are queued until the executor runs." };
    case "failed": return session.is_resumable ? resumes : { mode: "off", placeholder: "This agent cannot resume." };
    case "completed": case "cancelled": return { mode: "resume", placeholder: "Write to reopen this session." };
    default: return send;
  }
}

function chipOf(key: StateKey, session: Session): Shown["chip"] {
  switch (key) {
    case "needs_answer": return { glyph: "needs", tone: "needs", word: "Needs your answer" };
    case "executor_starting": return { glyph: "starting", tone: "plain", word: "Starting" };
    case "agent_starting": case "resuming": return { glyph: "starting", tone: "plain", word: "Starting agent" };
    case "running": return { glyph: "running", tone: "live", word: "Running" };
    case "stopping": return { glyph: "running", tone: "live", word: "Stopping" };
    case "unknown": case "can_resume": case "cannot_resume": case "lost": return { glyph: "stopped", tone: "plain", word: "Agent not running" };
    case "executor_error": return { glyph: "failed", tone: "failure", word: "Executor error" };
    case "failed": return { glyph: "failed", tone: "failure", word: "Failed" };
    case "completed": return { glyph: "done", tone: "success", word: "Completed" };
    case "cancelled": return { glyph: "cancelled", tone: "plain", word: "Cancelled" };
    case "archived": return { glyph: "done", tone: "plain", word: "Archived" };
    case "limited": return { glyph: "stopped", tone: "needs", word: "Waiting for a limit" };
    case "login": return { glyph: "needs", tone: "needs", word: "Needs a login" };
    case "created": case "ready": case "held": case "history_armed": return { glyph: "ready", tone: "plain", word: "Ready" };
    default: return faceOf(session);
  }
}

export function stateOf(session: Session, beside: Beside): Shown {
  const key = keyOf(session, beside);
  return {
    key,
    chip: chipOf(key, session),
    workspace: workspaceOf(session),
    banner: bannerOf(key, session, beside),
    composer: composerOf(key, session),
    canStop: session.run !== null && key !== "stopping" && session.liveness !== "dead",
    resumesOnOpen: !beside.resuming && resumesOnOpen(session, beside.resumeOnOpen ?? "active"),
  };
}
