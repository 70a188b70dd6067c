import { describe, expect, it } from "vitest";
import { mayBeAllowed, mayBecomeRule, oddIn, questionOf } from "./question";
import type { QuestionPart, ShownQuestion } from "./types";

const part = (kind: QuestionPart["kind"], text: string, more: Partial<QuestionPart> = {}): QuestionPart => ({ kind, label: kind, text, ...more });
const asked = (parts: QuestionPart[], more: Partial<ShownQuestion> = {}) => questionOf({ title: "Do it", tool_kind: "", is_whole: true, parts, ...more });

describe("what is asked", () => {
  it("names what it does, and what the agent calls it", () => {
    expect(asked([part("command", "ls")])).toMatchObject({ title: "Run a command", heading: "wants to run a command", calledIt: "Do it" });
    expect(asked([part("command", "ls")], { title: "`ls`" }).calledIt).toBe("");
    expect(asked([part("command", "ls -la")], { title: "ls" }).calledIt).toBe("ls");
    expect(asked([part("diff", "b", { label: "/a" })], { tool_kind: "edit" }).title).toBe("Create a file");
    expect(asked([part("diff", "b", { label: "/a", before: "" })], { tool_kind: "edit" }).title).toBe("Change a file");
    expect(asked([], { tool_kind: "execute" })).toMatchObject({ title: "Do it", heading: "wants to run a command" });
    expect(asked([], { tool_kind: "hologram" }).parts).toEqual([{ kind: "value", label: "kind", text: "hologram" }]);
  });
  it("is not whole where the daemon says so, or sends what this page does not know", () => {
    expect(mayBeAllowed(asked([], { is_whole: false }))).toBe(false);
    expect(mayBeAllowed(asked([part("hologram" as "value", "x")]))).toBe(false);
    expect(mayBeAllowed(questionOf({} as ShownQuestion))).toBe(false);
    expect(mayBeAllowed(asked([], { title: "" }))).toBe(false);
    expect(mayBeAllowed(asked([part("command", "ls")]))).toBe(true);
    expect(mayBecomeRule(asked([part("command", "ls")], { options_left_out: 1 }))).toBe(false);
  });
  it("counts what deceives in every part", () => {
    for (const kind of ["command", "folder", "diff", "path", "value", "said"] as const) {
      expect(oddIn(asked([part(kind, "a\u202eb")]))).toBe(1);
      expect(oddIn(asked([part(kind, "a", { label: "a\u202eb" })]))).toBe(1);
      expect(oddIn(asked([part(kind, "a\u202eb", { other: true })]))).toBe(1);
    }
    expect(oddIn(asked([part("command", "ls")], { title: "a\u202eb" }))).toBe(1);
  });
});
