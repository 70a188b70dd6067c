import { describe, expect, it } from "vitest";
import { answersOf } from "./answers";

const option = (kind: string, name = kind, id = name) => ({ option_id: id, name, kind });
const labels = (...options: ReturnType<typeof option>[]) => answersOf(options).all.map((answer) => answer.label);

describe("answers", () => {
  it("have one order, whatever the agent's is", () => {
    const given = [option("reject_once"), option("odd"), option("allow_always"), option("reject_always"), option("allow_once")];
    expect(answersOf(given).all.map((one) => one.option.kind)).toEqual(["allow_once", "allow_always", "reject_once", "reject_always", "odd"]);
    expect(labels(option("allow_once", "b"), option("allow_once", "a"))).toEqual(["b", "a"]);
  });
  it("have our words where each kind occurs once and the agent's name says no more", () => {
    expect(labels(option("allow_once", "Yes"), option("allow_always", "Always"), option("reject_once", "No"))).toEqual(["Allow once", "Always", "Deny"]);
    expect(labels(option("allow_once", "Yes, proceed"), option("reject_once", "Reject"))).toEqual(["Allow once", "Deny"]);
    expect(labels(option("allow_once", "Yes, and delete the branch"), option("reject_once", "No, and tell Codex what to do"))).toEqual([
      "Yes, and delete the branch", "No, and tell Codex what to do",
    ]);
  });
  it("have the agent's names, every one, where a kind occurs twice", () => {
    const given = [
      option("allow_once", "PostgreSQL"), option("allow_once", "SQLite"), option("allow_always", "Always PostgreSQL"), option("reject_once", "No"), option("reject_always", "Never"),
    ];
    const answers = answersOf(given);
    expect(answers.all.map((one) => one.label)).toEqual(["PostgreSQL", "SQLite", "Always PostgreSQL", "No", "Never"]);
    expect(answers.isChoice).toBe(true);
    expect(answers.once).toBe(undefined);
    expect(answers.deny?.option.name).toBe("No");
    expect(answers.all.every((one) => one.note !== "")).toBe(true);
  });
  it("find the narrowest yes, whatever the order", () => {
    expect(answersOf([option("allow_always"), option("allow_once", "Once"), option("reject_once")]).once?.option.name).toBe("Once");
    expect(answersOf().once).toBe(undefined);
  });
});
