// A session's state as one shape, one word and one colour. It combines two facts, the state of the
// agent and of the executor; a session's page also shows them separately.
import type { Brief, Session } from "./types";

export type FaceKey =
  | "created" | "executor_starting" | "agent_starting" | "running" | "needs_answer" | "ready" | "agent_stopped"
  | "executor_error" | "failed" | "completed" | "cancelled" | "damaged";

export interface Face {
  key: FaceKey;
  glyph: "running" | "starting" | "needs" | "ready" | "stopped" | "failed" | "done" | "cancelled";
  tone: "plain" | "live" | "needs" | "failure" | "success";
  word: string;
}

const faces: Record<FaceKey, Omit<Face, "key">> = {
  created: { glyph: "ready", tone: "plain", word: "Ready" },
  executor_starting: { glyph: "starting", tone: "plain", word: "Starting" },
  agent_starting: { glyph: "starting", tone: "plain", word: "Starting agent" },
  running: { glyph: "running", tone: "live", word: "Running" },
  needs_answer: { glyph: "needs", tone: "needs", word: "Needs your answer" },
  ready: { glyph: "ready", tone: "plain", word: "Ready" },
  agent_stopped: { glyph: "stopped", tone: "plain", word: "Agent not running" },
  executor_error: { glyph: "failed", tone: "failure", word: "Executor error" },
  failed: { glyph: "failed", tone: "failure", word: "Failed" },
  completed: { glyph: "done", tone: "success", word: "Completed" },
  cancelled: { glyph: "cancelled", tone: "plain", word: "Cancelled" },
  damaged: { glyph: "failed", tone: "failure", word: "Damaged" },
};

export function faceOf(session: Session | Brief): Face {
  const key = keyOf(session);
  return { key, ...faces[key] };
}

const isWhole = (session: Session | Brief): session is Session => "executor_status" in session;

function openQuestions(session: Session | Brief): number {
  if (!isWhole(session)) return session.pending;
  return session.pending.filter((item) => item.answerable).length;
}

function keyOf(session: Session | Brief): FaceKey {
  if (!isWhole(session) && session.damaged) return "damaged";
  if (session.status === "waiting" && openQuestions(session) > 0) return "needs_answer";
  if (isWhole(session) && session.executor_status === "starting") return "executor_starting";
  if (session.status === "running") return session.state === "STARTING" ? "agent_starting" : "running";
  switch (session.state) {
    case "STARTING": return "agent_starting";
    case "COMPLETED": return "completed";
    case "CANCELLED": return "cancelled";
    case "FAILED": return "failed";
    case "ERROR": return session.is_resumable ? "executor_error" : "agent_stopped";
  }
  if (isWhole(session) && session.executor_status === "none" && !session.last_run && !session.needs_resume) return "created";
  return isAgentAway(session) ? "agent_stopped" : "ready";
}

// An interrupted run stays the last run after the agent is back: the status alone does not show
// that the agent is away.
function isAgentAway(session: Session | Brief): boolean {
  if (session.needs_resume) return true;
  if (!session.status.startsWith("interrupted")) return false;
  return isWhole(session) ? !session.is_agent_running : !session.is_resumable;
}

/** The list row of a whole session. */
export function briefOf(session: Session): Brief {
  const open = session.pending.filter((item) => item.answerable);
  return {
    id: session.id, session_id: session.session_id, task_id: session.task_id, title: session.title, agent: session.agent,
    status: session.status, state: session.state, stop_reason: session.stop_reason, cwd: session.cwd, created: session.created,
    updated: session.updated, archived: session.archived, pending: open.length, pending_since: open[0]?.since ?? null,
    queue_length: session.queue_length, needs_resume: session.needs_resume, is_resumable: session.is_resumable,
    error_message: session.error_message, damaged: false, node: session.node ?? null,
  };
}
