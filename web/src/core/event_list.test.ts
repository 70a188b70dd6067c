import { describe, expect, it } from "vitest";
import { emptyWords, groupedLines, inFamily, mergeRecords, rawLines, tellRecord, type JournalRecord } from "./event_list";

function record(seq: number, kind: string, members: Record<string, unknown> = {}): JournalRecord {
  return { seq, ts: "2026-01-01T00:00:00.000Z", kind, ...members };
}

const records = [
  record(1, "session.created", { title: "Fix it", by: "uid:0" }),
  record(2, "message.agent", { run_id: "r", agent_message_id: "m1", text: "Hello " }),
  record(3, "message.agent", { run_id: "r", agent_message_id: "m1", text: "world" }),
  record(4, "message.agent", { run_id: "r", agent_message_id: "m2", text: "Other" }),
  record(5, "something.new", { by: "me" }),
];

describe("lines", () => {
  it("gives each record its line", () => {
    expect(rawLines(records, "all").map((line) => line.text)).toEqual(["Fix it, uid:0", "Hello", "world", "Other", "me"]);
  });

  it("folds pieces of one message, and counts them", () => {
    const lines = groupedLines(records, "all");
    expect(lines.map((line) => [line.seq, line.last, line.count, line.text])).toEqual([
      [1, 1, 1, "Fix it, uid:0"],
      [2, 3, 2, "Hello world"],
      [4, 4, 1, "Other"],
      [5, 5, 1, "me"],
    ]);
  });

  it("filters by family", () => {
    expect(rawLines(records, "conversation").map((line) => line.seq)).toEqual([2, 3, 4]);
    expect(inFamily("run.failed", "repair")).toBe(true);
    expect(inFamily("run.failed", "runs")).toBe(true);
    expect(emptyWords("permissions")).toBe("No events of “permissions” in this session.");
  });

  it("tells an exit by signal or by code", () => {
    expect(tellRecord(record(1, "agent.exited", { why: "killed", signal: 9 }))).toBe("killed, signal 9");
    expect(tellRecord(record(1, "agent.exited", { why: "exited" }))).toBe("exited, exit 0");
  });
});

describe("mergeRecords", () => {
  it("takes each record once, older and newer", () => {
    const merged = mergeRecords(records.slice(1, 3), records, 100);
    expect(merged.map((one) => one.seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it("lets the oldest go while following", () => {
    expect(mergeRecords(records.slice(0, 4), records.slice(4), 3).map((one) => one.seq)).toEqual([3, 4, 5]);
  });
});
