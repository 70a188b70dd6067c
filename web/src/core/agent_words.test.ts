import { describe, expect, it } from "vitest";
import { abilitiesOf, agentWords, branchFrom, isAtHand, shortTitle } from "./agent_words";
import type { Agent } from "./types";

function agent(change: Partial<Agent>): Agent {
  return {
    name: "a", title: "An Agent (npx)", default: false, command: ["a"], env_names: [], supports_session_resume: true, native_session_resume: true,
    history_context_injection: false, steer: false, measured: true, measured_version: "",
    abilities: [], built_in: false, presence: "installed", install: "", resume_command: "", fork_command: "", continue_command: "",
    login_hint: "", quirks: {}, ...change,
  };
}

describe("agentWords", () => {
  it("says what becomes of sessions", () => {
    expect(agentWords(agent({})).level).toBe("full");
    expect(agentWords(agent({ native_session_resume: false, history_context_injection: true })).resume).toContain("history");
    expect(agentWords(agent({ supports_session_resume: false })).resume).toContain("keeps nothing");
    expect(agentWords(agent({ measured: false })).source).toContain("not measured");
  });
  it("believes a probe more than what was written", () => {
    const probe = { at: "2026-01-01T00:00:00Z", rung: "inject", steps: [] };
    expect(agentWords(agent({ measured: false, probe }))).toMatchObject({ level: "history", source: "measured" });
    expect(agentWords(agent({ native_session_resume: false, probe: { ...probe, rung: "load" } })).level).toBe("full");
  });
  it("offers those that are installed or declared", () => {
    expect(isAtHand(agent({ built_in: true }))).toBe(true);
    expect(isAtHand(agent({ built_in: true, presence: "npx" }))).toBe(false);
    expect(isAtHand(agent({ presence: "npx" }))).toBe(true);
  });
  it("names abilities and titles", () => {
    expect(abilitiesOf(agent({ steer: true, quirks: { fs: true } }))).toHaveLength(2);
    expect(shortTitle(agent({}))).toBe("An Agent");
  });
});

describe("branchFrom", () => {
  it("makes a name that git takes", () => {
    expect(branchFrom("Fix the flaky checkout test, in apps/web\nplease")).toBe("fix-the-flaky-checkout-test");
    expect(branchFrom("🙂")).toBe("");
  });
});
