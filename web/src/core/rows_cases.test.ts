// Runs tests/shared/rows_cases.json, which also checks the daemon's projection.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RowFold } from "./row_fold";
import { rowOf } from "./rows";
import type { RecordEnvelope, Row } from "./types";

interface Case {
  name: string;
  records: ({ kind: string } & Record<string, unknown>)[];
  rows: ({ id: string; role: Row["role"]; kind?: string; rev?: number } & Record<string, unknown>)[];
  segment_seq: number;
}
const file = new URL("../../../tests/shared/rows_cases.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };

const timeOf = (seq: number): string => new Date(Date.UTC(2026, 10, 15, 12, 0, seq)).toISOString();

export function numbered(records: Case["records"]): RecordEnvelope[] {
  return records.map((record, i) => ({ v: 1, seq: i + 1, ts: timeOf(i + 1), ...record }));
}

function expected(one: Case, records: RecordEnvelope[]): Row[] {
  return one.rows.map(({ kind, ...row }) => {
    const seq = parseInt(row.id, 10);
    const record = records[seq - 1];
    const place = { seq, rev: row.rev ?? seq };
    if (kind) expect(record?.kind).toBe(kind);
    if (row.role === "mark" && record) return { id: row.id, ...place, role: "mark", record };
    return rowOf({ timestamp: timeOf(seq), ...place, ...row });
  });
}

describe("rows of records", () => {
  it.each(cases.map((one) => [one.name, one] as const))("%s", (_, one) => {
    const records = numbered(one.records);
    const fold = new RowFold();
    for (const record of records) fold.apply(record);
    expect(fold.rows()).toEqual(expected(one, records));
  });

  it.each(cases.map((one) => [one.name, one] as const))("begun anywhere: %s", (_, one) => {
    const records = numbered(one.records);
    for (let cut = 1; cut <= records.length; cut += 1) {
      const before = new RowFold();
      let segment = 0;
      for (const record of records.slice(0, cut)) {
        before.apply(record);
        segment = before.segmentSeq;
      }
      const after = new RowFold();
      after.load(before.rows(), segment, false);
      for (const record of records.slice(cut)) after.apply(record);
      expect(after.rows()).toEqual(expected(one, records));
      expect(after.segmentSeq).toBe(one.segment_seq);
    }
  });
});
