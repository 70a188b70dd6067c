// Changes of sessions that are worth announcing: a question opened, a turn ended, an agent stopped.
// Never the text of an agent.
import { faceOf } from "./session_face";
import { markedText } from "./suspicious";
import type { Brief } from "./types";

export interface Happening {
  kind: "needs" | "finished" | "stopped" | "failed";
  session: string;
  title: string;
  text: string;
}

export function happenings(before: Brief[], now: Brief[]): Happening[] {
  const known = new Map(before.map((brief) => [brief.id, brief]));
  return now.flatMap((brief) => {
    const was = known.get(brief.id);
    const found = was && was !== brief ? happening(was, brief) : null;
    return found ? [{ ...found, session: brief.id, title: markedText(brief.title) }] : [];
  });
}

function happening(was: Brief, now: Brief): Pick<Happening, "kind" | "text"> | null {
  const title = markedText(now.title || "A session");
  const from = faceOf(was).key;
  const to = faceOf(now).key;
  if (to === "needs_answer" && now.pending_since !== was.pending_since) return { kind: "needs", text: `${title} needs your answer` };
  if (from === to) return null;
  if (to === "failed" || to === "executor_error") return { kind: "failed", text: `${title} failed` };
  if (to === "agent_stopped") return { kind: "stopped", text: `The agent of ${title} stopped` };
  if (from === "running" && (to === "ready" || to === "completed")) return { kind: "finished", text: `${title} finished its turn` };
  return null;
}
