import { describe, expect, it } from "vitest";
import { FarRows } from "./far_rows";
import { emptyMessage } from "./rows";
import type { Row, RowsPage } from "./types";

const rows = (from: number, to: number): Row[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ ...emptyMessage(), id: String(from + i), seq: from + i }));
const page = (from: number, to: number, has_newer = true): RowsPage => ({
  log_id: "l", as_of: 99, has_older: from > 1, has_newer, segment_seq: 0, total: null, rows: rows(from, to),
});
const seqs = (all: Row[]): number[] => all.map((row) => row.seq);

describe("a place far back", () => {
  it("stands alone until it reaches what is followed", () => {
    const followed = rows(30, 40);
    const far = new FarRows(page(10, 14), 30);
    expect(seqs(far.with(followed))).toEqual(seqs(rows(10, 14)));
    far.addNewer(page(12, 20), 30);
    expect(far.hasNewer).toBe(true);
    far.addNewer(page(18, 33), 30);
    expect(far.hasNewer).toBe(false);
    expect(seqs(far.with(followed))).toEqual(seqs(rows(10, 40)));
  });
  it("grows towards the beginning", () => {
    const far = new FarRows(page(10, 14), 30);
    far.addOlder(page(1, 9));
    expect(far.hasOlder).toBe(false);
    expect(seqs(far.with([]))).toEqual(seqs(rows(1, 14)));
  });
  it("is joined at once where it overlaps", () => {
    expect(seqs(new FarRows(page(20, 31), 30).with(rows(30, 32)))).toEqual(seqs(rows(20, 32)));
  });
});
