import { describe, expect, it } from "vitest";
import type { Density } from "../core/types";
import { axisOf, seqAt, turnAfter, turnBefore, xOf } from "./timeline";

// One bucket per minute; numbers are record counts.
function density(counts: number[], prompts: number[] = []): Density {
  let seq = 0;
  const buckets = counts.map((records, index) => {
    const first_seq = records ? seq + 1 : 0;
    seq += records;
    return { from: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(), records, first_seq, last_seq: records ? seq : 0 };
  });
  return { as_of: seq, buckets, marks: prompts.map((at) => ({ seq: at, ts: "", kind: "prompt" as const })), marks_left_out: 0 };
}
const idle = (n: number): number[] => Array.from({ length: n }, () => 0);

describe("timeline", () => {
  it("collapses idle time and says how long it was", () => {
    const axis = axisOf(density([5, 3, ...idle(60), 2, 4]), 400);
    expect(axis.gaps).toMatchObject([{ ms: 60 * 60_000, label: "1 h 0 min idle", width: 16 }]);
    expect(axis.bars.map((bar) => Math.round(bar.x))).toEqual([0, 96, 208, 304]);
    expect(axis.width).toBe(400);
  });
  it("opens a gap", () => {
    const all = density([5, ...idle(60), 2]);
    expect(axisOf(all, 400, () => true).gaps).toEqual([]);
  });
  it("leaves short rests alone", () => {
    expect(axisOf(density([5, 0, 0, 3]), 400).gaps).toEqual([]);
  });
  it("turns places into records and back", () => {
    const axis = axisOf(density([10, ...idle(50), 20, 30]), 316);
    for (const seq of [1, 5, 10, 11, 30, 31, 60]) expect(Math.abs(seqAt(axis, xOf(axis, seq) - 0.01) - seq)).toBeLessThanOrEqual(1);
    expect(seqAt(axis, 0)).toBe(1);
    expect(seqAt(axis, 316)).toBe(60);
    expect(seqAt(axis, 108)).toBe(10);
  });
  it("ends with the last record", () => {
    const axis = axisOf(density([10, 0, 30, ...idle(9)]), 300);
    expect(axis.bars.map((bar) => bar.x)).toEqual([0, 200]);
    expect(seqAt(axis, 250)).toBe(26);
    expect(seqAt(axis, 300)).toBe(40);
  });
  it("has levels between 0 and 1", () => {
    expect(axisOf(density([1, 4, 16]), 100).bars.map((bar) => bar.level)).toEqual([0.25, 0.5, 1]);
  });
  it("survives nothing", () => {
    expect(axisOf({ as_of: 0, buckets: [], marks: [], marks_left_out: 0 }, 100)).toMatchObject({ bars: [], gaps: [], marks: [] });
    expect(axisOf(density([0, 0]), 0).bars).toEqual([]);
  });
  it("steps by turns", () => {
    const all = density([100], [10, 40, 80]);
    expect(turnBefore(all, 100)).toBe(79);
    expect(turnBefore(all, 79)).toBe(39);
    expect(turnBefore(all, 9)).toBe(1);
    expect(turnAfter(all, 39)).toBe(79);
    expect(turnAfter(all, 79)).toBe(null);
  });
});
