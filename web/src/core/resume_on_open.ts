// Whether opening a session's page resumes its agent (K6). "active": only if work was under way
// when the agent was lost. "always": every session at rest that has a conversation. Completed,
// cancelled and failed sessions wait for a click under every setting.
import type { Session } from "./types";

export type ResumeOnOpen = "active" | "always" | "never";
/** This browser's preference; "daemon": use the daemon's setting. */
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
