import { describe, expect, it } from "vitest";
import { allowOnce, otherOptions, questionOf } from "./question";
import type { RecordEnvelope } from "./types";

const asked = (toolCall: object | null, more: object = {}): RecordEnvelope => ({
  v: 1, seq: 1, ts: "", kind: "permission.requested", title: "Do it", update: toolCall ? { toolCall } : {}, ...more,
});

describe("what is asked", () => {
  it("shows a command whole", () => {
    const question = questionOf(asked({ kind: "execute", rawInput: { command: ["psql", "-f", "x.sql"], cwd: "/srv" } }));
    expect(question).toMatchObject({ title: "Run a command", command: "psql -f x.sql", cwd: "/srv", isWhole: true });
  });
  it("shows what a file becomes", () => {
    const question = questionOf(asked({ kind: "edit", content: [{ type: "diff", path: "/a", oldText: null, newText: "b" }] }));
    expect(question).toMatchObject({ title: "Create a file", diffs: [{ path: "/a", before: null, after: "b" }], isWhole: true });
  });
  it("keeps the agent's words and input where it knows no better", () => {
    const question = questionOf(asked({ rawInput: { table: "users" } }));
    expect(question.title).toBe("Do it");
    expect(question.rest).toContain("users");
  });
  it("is not whole where the journal keeps it apart, or there is none", () => {
    expect(questionOf(asked(null)).isWhole).toBe(false);
    expect(questionOf(asked(null, { update: { blob: "00", bytes: 9 } })).isWhole).toBe(false);
  });
  it("finds the narrowest yes, whatever the order", () => {
    const options = [
      { option_id: "a", name: "Always", kind: "allow_always" }, { option_id: "o", name: "Once", kind: "allow_once" },
      { option_id: "n", name: "No", kind: "reject_once" },
    ];
    expect(allowOnce(options)?.option_id).toBe("o");
    expect(otherOptions(options).map((option) => option.option_id)).toEqual(["a", "n"]);
    expect(allowOnce([])).toBe(undefined);
  });
});
