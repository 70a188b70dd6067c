// The daemon omits empty fields from rows; this fills in all of them.
import type { MarkRow, MessageRow, RecordEnvelope, Row, RowsPage } from "./types";

export function emptyMessage(): MessageRow {
  return {
    id: "", seq: 0, rev: 0, role: "user", content: "", thinking: "", thinking_complete: false, timestamp: "",
    message_id: "", agent_message_id: "", agent_thought_id: "", tool_call_id: "", title: "", tool_kind: "", status: "",
    run_id: "", after_run: "", outcome: "done", steered: false, blocks: null,
  };
}

type Raw = Omit<Partial<MessageRow> & Partial<MarkRow>, "role"> & { role: Row["role"] };

export function rowOf(raw: Raw): Row {
  if (raw.role === "mark") {
    return { id: raw.id ?? "", seq: raw.seq ?? 0, rev: raw.rev ?? 0, role: "mark", record: raw.record as RecordEnvelope };
  }
  const row = emptyMessage();
  for (const name of Object.keys(row) as (keyof MessageRow)[]) {
    const value = raw[name];
    if (value !== undefined) (row as unknown as Record<string, unknown>)[name] = value;
  }
  return row;
}

export function pageOf(raw: Omit<RowsPage, "rows" | "segment_seq"> & { rows: unknown[]; segment_seq?: number }): RowsPage {
  return { ...raw, segment_seq: raw.segment_seq ?? 0, rows: raw.rows.map((row) => rowOf(row as Raw)) };
}

export const isMessage = (row: Row): row is MessageRow => row.role !== "mark";
