// Describes what an agent can do, to help choose one. Pure; from GET /api/agents.
import type { Agent } from "./types";

export interface AgentWords {
  /** What happens to its sessions after its process ends. */
  resume: string;
  level: "full" | "history" | "none";
  /** Measured by a probe, or only declared in the settings. */
  source: string;
}

export function agentWords(agent: Agent): AgentWords {
  if (agent.probe) return { ...probedResume(agent.probe.rung), source: "measured" };
  return { ...resumeOf(agent), source: agent.measured ? "measured" : "as configured, not measured yet" };
}

// A probe on this machine overrides the declared ability.
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

/** True if the agent is installed or declared in the settings, so that a person may choose it. */
export function isAtHand(agent: Agent): boolean {
  return agent.presence === "installed" || !agent.built_in;
}

/** Abilities for a list, without resuming. */
export function abilitiesOf(agent: Agent): string[] {
  const out: string[] = [];
  if (agent.steer) out.push("takes messages into a running turn");
  if (agent.quirks["fs"] === true) out.push("uses our files");
  if (agent.quirks["terminal"] === true) out.push("uses our terminals");
  return out;
}

/** Shortens "Claude Code (npx)" to "Claude Code". */
export function shortTitle(agent: Agent): string {
  return agent.title.replace(/ \(.*\)$/, "") || agent.name;
}

/** Makes a branch name from a prompt: "Fix the flaky test" gives "fix-the-flaky-test". */
export function branchFrom(text: string): string {
  const line = text.split("\n")[0] ?? "";
  const words = line.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return words.split("-").slice(0, 5).join("-").slice(0, 40);
}
