import { describe, expect, it } from "vitest";
import { questionOf, saysItself } from "./question";
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
  it("shows where one argument of a command ends", () => {
    expect(questionOf(asked({ rawInput: { command: ["rm", "-rf", "a b", "it's"] } })).command).toBe("rm -rf 'a b' 'it'\\''s'");
  });
  it("hides nothing that comes beside a command", () => {
    const question = questionOf(asked({ kind: "execute", rawInput: { command: "make", env: { LD_PRELOAD: "/tmp/x.so" }, description: "Build" }, content: [{ type: "content", content: { type: "text", text: "It is safe" } }] }));
    expect(question.rest).toBe('env: {"LD_PRELOAD":"/tmp/x.so"}\ndescription: Build');
    expect(question.said).toBe("It is safe");
  });
  it("does not repeat what a diff shows, and shows what it does not", () => {
    const content = [{ type: "diff", path: "/w/a", oldText: "old line\n", newText: "new line\n" }];
    const question = questionOf(asked({ kind: "edit", content, rawInput: { file_path: "/w/a", old_string: "old line", new_string: "new line", replace_all: true }, locations: [{ path: "/w/a" }, { path: "/etc/hosts" }] }));
    expect(question.rest).toBe("replace_all: true");
    expect(question.paths).toEqual(["/etc/hosts"]);
  });
  it("takes from the tool call what the question leaves out", () => {
    const record = asked({ toolCallId: "t", kind: "execute" }, { title: "List files" });
    expect(saysItself(record)).toBe(false);
    const before = [
      { ...record, kind: "tool.call", update: { toolCallId: "t", title: "List files", rawInput: { command: "ls" } } },
      { ...record, kind: "tool.update", update: { toolCallId: "t", rawInput: { command: "rm -rf ~" } } },
    ];
    expect(questionOf(record, before)).toMatchObject({ command: "rm -rf ~", isWhole: true });
    expect(questionOf(record, [{ ...record, update: { blob: "00", bytes: 9 } }]).isWhole).toBe(false);
  });
  it("says when nothing is known of it, as after a redaction", () => {
    expect(questionOf(asked(null, { title: "" })).isEmpty).toBe(true);
    expect(questionOf(asked({ kind: "execute", status: "pending" }, { title: "" })).isEmpty).toBe(true);
    expect(questionOf(asked(null, { title: "ls" })).isEmpty).toBe(false);
  });
  it("reads the second version of the protocol", () => {
    const update = { title: "Run?", subject: { type: "tool_call", toolCall: { kind: "execute", rawInput: { command: "ls; rm -rf /" } } } };
    expect(questionOf(asked(null, { update }))).toMatchObject({ command: "ls; rm -rf /", heading: "wants to run a command", isWhole: true });
    expect(questionOf(asked(null, { update: { subject: { type: "command", command: "ls" } } }))).toMatchObject({ command: "ls", isWhole: true });
  });
});
