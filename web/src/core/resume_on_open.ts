// Whether opening a session's page brings its agent back (K6). "active" is for work that was under way when the agent was
// lost; "always" is for every session at rest that has a conversation to go on with. What somebody has completed or
// cancelled, and what failed, waits for a click whatever the setting is.
import type { Session } from "./types";

export type ResumeOnOpen = "active" | "always" | "never";
/** A browser's own wish; "daemon": as the daemon is set. */
export type ResumeWish = "daemon" | ResumeOnOpen;

function isAtRest(session: Session): boolean {
  if (session.is_agent_running || session.run !== null || session.status === "running" || session.status === "waiting") return false;
  if (session.executor_status === "starting" || session.executor_status === "error") return false;
  if (["STARTING", "ERROR", "FAILED", "CANCELLED"].includes(session.state)) return false;
  return !(session.state === "COMPLETED" && session.stop_reason === "completed");
}

const hasConversation = (session: Session): boolean => session.last_run !== null || session.agent_session_id !== null || session.context !== null;

export function resumesOnOpen(session: Session, policy: ResumeOnOpen): boolean {
  if (policy === "never" || !session.is_resumable || session.archived) return false;
  if (session.needs_resume) return true;
  return policy === "always" && isAtRest(session) && hasConversation(session);
}

export const policyOf = (wish: ResumeWish, daemon: ResumeOnOpen): ResumeOnOpen => (wish === "daemon" ? daemon : wish);
