import { describe, expect, it } from "vitest";
import type { RecordEnvelope } from "./types";
import { boundaryWords, usagePerTurn } from "./turn_usage";

function usage(seq: number, run: string, used: number, cost?: number): RecordEnvelope {
  const update = cost === undefined ? {} : { cost: { amount: cost, currency: "USD" } };
  return { v: 1, seq, ts: "2026-01-01T00:00:00.000Z", kind: "usage", run_id: run, used, size: 1000, update };
}

describe("usagePerTurn", () => {
  it("takes the last word of each turn, and what it added", () => {
    const turns = usagePerTurn([usage(1, "a", 100), usage(2, "a", 150), usage(5, "b", 400, 0.5), usage(6, "c", 90)]);
    expect(turns.map((turn) => [turn.run, turn.used, turn.grown, turn.cost])).toEqual([
      ["a", 150, 150, ""],
      ["b", 400, 250, "0.50 USD"],
      ["c", 90, 0, ""],
    ]);
    expect(turns[0]?.seq).toBe(1);
  });
});

describe("boundaryWords", () => {
  it("shows unknown words as they are", () => {
    expect(boundaryWords({ v: 1, seq: 1, ts: "", kind: "context.boundary", how: "new_way" })).toBe("new_way");
  });
});
