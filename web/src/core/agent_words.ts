// What an agent can do, in words that help to choose one. Pure; from GET /api/agents.
import type { Agent } from "./types";

export interface AgentWords {
  /** What becomes of its sessions when its process is gone. */
  resume: string;
  level: "full" | "history" | "none";
  /** Measured by a probe, or only what the settings say. */
  source: string;
}

export function agentWords(agent: Agent): AgentWords {
  if (agent.probe) return { ...probedResume(agent.probe.rung), source: "measured" };
  return { ...resumeOf(agent), source: agent.measured ? "measured" : "as configured, not measured yet" };
}

// What was seen on this machine counts more than what was written of it.
function probedResume(rung: string): Pick<AgentWords, "resume" | "level"> {
  return rung === "inject" ? { resume: "cannot resume; gets history instead", level: "history" }
    : { resume: "resumes its own sessions", level: "full" };
}

function resumeOf(agent: Agent): Pick<AgentWords, "resume" | "level"> {
  if (agent.supports_session_resume && agent.native_session_resume) return { resume: "resumes its own sessions", level: "full" };
  if (agent.history_context_injection) return { resume: "cannot resume; gets history instead", level: "history" };
  if (!agent.supports_session_resume) return { resume: "keeps nothing of a session when it ends", level: "none" };
  return { resume: "cannot resume", level: "none" };
}

/** One that a person would choose: it is installed, or the settings declare it. */
export function isAtHand(agent: Agent): boolean {
  return agent.presence === "installed" || !agent.built_in;
}

/** Abilities beside resuming, for a list. */
export function abilitiesOf(agent: Agent): string[] {
  const out: string[] = [];
  if (agent.steer) out.push("takes messages into a running turn");
  if (agent.quirks["fs"] === true) out.push("uses our files");
  if (agent.quirks["terminal"] === true) out.push("uses our terminals");
  return out;
}

/** "Claude Code" of "Claude Code (npx)". */
export function shortTitle(agent: Agent): string {
  return agent.title.replace(/ \(.*\)$/, "") || agent.name;
}

/** A branch's name from what should be done: "Fix the flaky test" gives "fix-the-flaky-test". */
export function branchFrom(text: string): string {
  const line = text.split("\n")[0] ?? "";
  const words = line.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return words.split("-").slice(0, 5).join("-").slice(0, 40);
}
