import { describe, expect, it } from "vitest";
import type { RecordEnvelope } from "../core/types";
import { askedOf, inOrder, keyOf } from "./permission";

const option = (kind: string, id = kind) => ({ option_id: id, name: id, kind });
const record = (toolCall: unknown): RecordEnvelope => ({ v: 1, seq: 1, ts: "2026-01-01T00:00:00Z", kind: "permission.requested", update: { toolCall } });

describe("permission", () => {
  it("has one order, whatever the agent's is", () => {
    const given = [option("reject_once"), option("odd"), option("allow_always"), option("reject_always"), option("allow_once")];
    expect(inOrder(given).map((one) => one.kind)).toEqual(["allow_once", "allow_always", "reject_once", "reject_always", "odd"]);
    expect(inOrder([option("allow_once", "b"), option("allow_once", "a")]).map((one) => one.option_id)).toEqual(["b", "a"]);
  });
  it("has keys for the three usual answers alone", () => {
    expect(["allow_once", "allow_always", "reject_once", "reject_always", "odd"].map((kind) => keyOf(option(kind)))).toEqual(["Y", "A", "N", "", ""]);
  });
  it("shows the whole command, as it is run, and not the title", () => {
    const asked = askedOf(record({ kind: "execute", title: "List", rawInput: { command: "ls; rm -rf /", cwd: "/w" } }), "List");
    expect(asked).toMatchObject({ command: "ls; rm -rf /", cwd: "/w", heading: "wants to run a command" });
  });
  it("shows what would be written", () => {
    const asked = askedOf(record({ kind: "edit", content: [{ type: "diff", path: "a", oldText: null, newText: "x" }] }), "Write a");
    expect(asked).toMatchObject({ command: "", diffs: [{ path: "a", before: null, after: "x" }], heading: "wants to change a file" });
  });
  it("falls back to the title, and to the raw input", () => {
    expect(askedOf(null, "`ls`").command).toBe("ls");
    expect(askedOf(record({ rawInput: { query: "x" } }), "Look").input).toContain("query");
  });
});
