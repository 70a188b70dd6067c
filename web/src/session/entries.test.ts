import { describe, expect, it } from "vitest";
import { emptyMessage } from "../core/rows";
import type { MessageRow, RecordEnvelope, Row } from "../core/types";
import { dotOf, Entries, foldedTurnOf, indexOfSeq, turnsOf, type Entry } from "./entries";
import { detailOf, withoutFence } from "./tool_detail";
import { markWords, subjectOf, summaryOf } from "./words";

let seq = 0;
const row = (role: MessageRow["role"], more: Partial<MessageRow> = {}): MessageRow => {
  seq += 1;
  return { ...emptyMessage(), id: String(seq), seq, rev: seq, role, timestamp: "2026-01-01T00:00:00Z", ...more };
};
const user = (content: string): MessageRow => row("user", { content });
const say = (content: string): MessageRow => row("assistant", { content });
const tool = (kind: string, id: string, more: Partial<MessageRow> = {}): MessageRow => row("tool_call", { tool_kind: kind, tool_call_id: id, status: "completed", ...more });
const result = (id: string): MessageRow => row("tool_result", { tool_call_id: id, content: "out" });
const mark = (kind: string, fields: Record<string, unknown> = {}): Row => {
  seq += 1;
  const record: RecordEnvelope = { v: 1, seq, ts: "2026-01-01T00:00:00Z", kind, ...fields };
  return { id: String(seq), seq, rev: seq, role: "mark", record };
};
const kinds = (entries: readonly Entry[]): string[] => entries.map((entry) => entry.kind);
const of = (rows: Row[], open: (turn: string) => boolean = () => false): Entry[] => new Entries().of(rows, [], open);

describe("entries", () => {
  it("joins a call with its result and its question", () => {
    const entries = of([user("a"), tool("execute", "t1"), mark("permission.requested", { tool_call_id: "t1", perm_id: "p" }), result("t1"), say("done")]);
    expect(kinds(entries)).toEqual(["user", "tool", "text"]);
    const entry = entries[1];
    expect(entry?.kind === "tool" && entry.tool.result?.content).toBe("out");
    expect(entry?.kind === "tool" && entry.tool.permission?.["perm_id"]).toBe("p");
    expect(entry && dotOf(entry, () => true)).toBe("needs");
    expect(entry && dotOf(entry, () => false)).toBe("agent");
  });

  it("gathers quiet tools, and leaves failed ones apart", () => {
    const entries = of([user("a"), tool("read", "1"), result("1"), tool("search", "2"), tool("read", "3"), tool("read", "4", { status: "failed" }), say("x")]);
    expect(kinds(entries)).toEqual(["user", "quiet", "tool", "text"]);
    expect(entries[1]?.kind === "quiet" && summaryOf(entries[1].tools)).toBe("Read 2 files, searched once");
  });

  it("shows thoughts before the words", () => {
    expect(kinds(of([user("a"), row("assistant", { thinking: "hm", content: "so" })]))).toEqual(["user", "thought", "text"]);
    expect(kinds(of([user("a"), row("assistant", { thinking: "hm" })]))).toEqual(["user", "thought"]);
  });

  const turn = (): Row[] => [user("a"), tool("edit", "1"), tool("execute", "2"), say("between"), mark("run.interrupted", { reason: "process_exit" }), say("answer")];
  it("folds turns older than the last two", () => {
    const rows = [...turn(), ...turn(), ...turn()];
    const entries = of(rows);
    expect(kinds(entries).slice(0, 5)).toEqual(["user", "fold", "mark", "text", "user"]);
    expect(entries.filter((entry) => entry.kind === "fold").length).toBe(1);
    expect(kinds(of(rows, () => true)).slice(0, 7)).toEqual(["user", "fold", "tool", "tool", "text", "mark", "text"]);
  });

  it("gives the same entries for turns that did not change", () => {
    const entries = new Entries();
    const rows = [...turn(), ...turn()];
    const before = entries.of(rows, [], () => false);
    const after = entries.of([...rows, user("more")], [], () => false);
    expect(after.at(-2)).toBe(before.at(-1));
    const grown = [...rows.slice(0, -1), { ...(rows.at(-1) as MessageRow), content: "answer grows" }];
    const streamed = entries.of(grown, [], () => false);
    expect(streamed[0]).toBe(entries.of(grown, [], () => false)[0]);
  });

  it("puts a plan where it was made", () => {
    const rows = [user("a"), say("b"), say("c")];
    const at = rows[1]?.seq ?? 0;
    const entries = new Entries().of(rows, [{ run: "r", seq: at + 0.5, rev: at + 0.5, at: "", items: [] }], () => false);
    expect(kinds(entries)).toEqual(["user", "text", "plan", "text"]);
  });

  it("parts turns at prompts, not at steering", () => {
    expect(turnsOf([mark("context.boundary"), user("a"), say("b"), row("user", { steered: true }), say("c"), user("d")]).map((one) => one.rows.length)).toEqual([1, 4, 1]);
  });

  it("keeps results that have no call", () => {
    expect(kinds(of([result("x"), say("y")]))).toEqual(["tool", "text"]);
  });

  it("finds the entry of an event", () => {
    const entries = of([user("a"), say("b"), say("c")]);
    const first = entries[0]?.seq ?? 0;
    expect(indexOfSeq(entries, first + 1)).toBe(1);
    expect(indexOfSeq(entries, first + 100)).toBe(2);
    expect(indexOfSeq(entries, 0)).toBe(-1);
  });
});

describe("what an address names", () => {
  const rows = [
    user("one"), tool("edit", "a"), result("a"), tool("execute", "b"), say("done"),
    user("two"), say("yes"), user("three"), say("no"),
  ];
  const seqOf = (index: number): number => rows[index]?.seq ?? 0;
  const turn = rows[0]?.id ?? "";

  it("is looked for in the turn that hides it", () => {
    const entries = of(rows);
    expect(foldedTurnOf(rows, entries, seqOf(1))).toBe(turn);
    expect(foldedTurnOf(rows, entries, seqOf(2))).toBe(turn);
    expect(foldedTurnOf(rows, entries, seqOf(3))).toBe(turn);
  });
  it("opens nothing when it is seen already", () => {
    const entries = of(rows);
    for (const index of [0, 4, 5, 6, 8]) expect(foldedTurnOf(rows, entries, seqOf(index))).toBeNull();
    expect(foldedTurnOf(rows, of(rows, () => true), seqOf(3))).toBeNull();
  });
});

describe("tool detail", () => {
  const record = (update: unknown, more: Record<string, unknown> = {}): RecordEnvelope => ({ v: 1, seq: 1, ts: "2026-01-01T00:00:00.000Z", kind: "tool.update", update, ...more });
  it("reads what agents write", () => {
    const detail = detailOf([
      record({ rawInput: { command: ["bash", "-c", "ls"], cwd: "/w" }, locations: [{ path: "/w/a" }] }),
      record({ content: [{ type: "content", content: { type: "text", text: "out" } }], rawOutput: { exit_code: 1 } }),
    ]);
    expect(detail).toMatchObject({ command: "bash -c ls", cwd: "/w", paths: ["/w/a"], output: "out", exitCode: 1 });
  });
  it("takes the last content, diffs included", () => {
    const diff = { type: "diff", path: "a", oldText: null, newText: "x" };
    expect(detailOf([record({ content: [diff, diff] }), record({ content: [diff] })]).diffs).toEqual([{ path: "a", before: null, after: "x" }]);
  });
  it("passes over what it does not know", () => {
    for (const odd of [null, 3, "x", [], { content: 5 }, { content: [null, 7, { type: "diff" }] }, { rawInput: [], locations: {} }]) detailOf([record(odd)]);
  });
  it("names what is kept apart", () => {
    expect(detailOf([record({ blob: "h", bytes: 9 })]).blob).toEqual({ hash: "h", bytes: 9 });
    expect(detailOf([record({ blob: "h", bytes: 9 })], new Map([["h", { rawOutput: "all" }]])).output).toBe("all");
  });
  it("takes output out of its fence", () => {
    expect(withoutFence("```console\na\nb\n```")).toBe("a\nb");
    expect(withoutFence("a ``` b")).toBe("a ``` b");
    expect(withoutFence("```console\n```")).toBe("");
  });
});

describe("words", () => {
  it("names tools by their subject", () => {
    expect(subjectOf({ call: tool("edit", "1", { title: "Write perdure-demo/note.md" }), result: null, permission: null })).toBe("perdure-demo/note.md");
    expect(subjectOf({ call: tool("execute", "1", { title: "`ls -la`", content: "ls -la" }), result: null, permission: null })).toBe("ls -la");
  });
  it("says what a boundary is", () => {
    const record = { v: 1, seq: 1, ts: "", kind: "context.boundary", how: "injected", verified: "none", attempts: [{ method: "resume", failure: "session_unknown" }] };
    expect(markWords(record)).toEqual({ title: "Started fresh with history", detail: "Resume did not serve: the agent no longer knows the session", failed: false });
  });
});
