// The journal's records as a readable list: one line per record, the pieces of one message folded
// into one, a filter. Rule: nothing is left out silently; a group shows how many records it
// contains, and unknown kinds get a line too.

import type { RecordEnvelope } from "./types";

export type JournalRecord = Pick<RecordEnvelope, "seq" | "ts" | "kind"> & Record<string, unknown>;

/** Families for the filter, in display order. */
export const families = [
  { id: "all", name: "All kinds", prefixes: [""] },
  { id: "conversation", name: "Conversation", prefixes: ["message."] },
  { id: "tools", name: "Tools", prefixes: ["tool.", "plan"] },
  { id: "permissions", name: "Permissions", prefixes: ["permission.", "token.", "run.waiting", "run.resumed"] },
  { id: "runs", name: "Runs", prefixes: ["run."] },
  { id: "agent", name: "Agent and executor", prefixes: ["agent.", "executor.", "mode", "commands", "usage"] },
  { id: "context", name: "Context and resume", prefixes: ["context.", "resume."] },
  { id: "queue", name: "Queue", prefixes: ["queue."] },
  { id: "session", name: "Session", prefixes: ["session.", "status."] },
  { id: "repair", name: "Repair and errors", prefixes: ["repair.", "redacted", "run.failed", "run.interrupted", "executor.error", "resume.failed"] },
] as const;

export type FamilyId = (typeof families)[number]["id"];

export function inFamily(kind: string, family: FamilyId): boolean {
  const found = families.find((one) => one.id === family);
  return found === undefined || found.prefixes.some((prefix) => kind.startsWith(prefix));
}

/** A line of the list: one record, or several pieces of one message. */
export interface EventLine {
  seq: number;
  last: number;
  ts: string;
  kind: string;
  count: number;
  text: string;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function oneLine(value: unknown, max = 120): string {
  const flat = text(value).replace(/\s+/g, " ").trim();
  return flat.length > max ? `${flat.slice(0, max - 1)}…` : flat;
}

type Teller = (record: JournalRecord) => string;

function joined(...members: string[]): Teller {
  return (record) => members.map((member) => oneLine(record[member])).filter(Boolean).join(", ");
}

const tellers: Record<string, Teller> = {
  "session.created": joined("title", "by"),
  "session.renamed": joined("title"),
  "session.stopped": joined("reason", "by"),
  "executor.starting": joined("runtime"),
  "executor.ready": (record) => `pid ${number(record["pid"])}`,
  "executor.error": joined("code", "message"),
  "executor.stopped": joined("reason", "proof"),
  "agent.started": (record) => `version ${text(record["version"]) || "unknown"}, ${abilityWords(record["abilities"])}`,
  "agent.exited": (record) =>
    number(record["signal"]) > 0
      ? `${oneLine(record["why"])}, signal ${number(record["signal"])}`
      : `${oneLine(record["why"])}, exit ${number(record["exit_code"])}`,
  "context.boundary": (record) => `${oneLine(record["how"])}, verified ${oneLine(record["verified"]) || "none"}`,
  "context.attempt": joined("method", "failure", "message"),
  "context.injected": (record) => `${number(record["turns"])} of ${number(record["turns_of"])} turns, ${number(record["chars"])} characters`,
  "resume.requested": joined("how", "by"),
  "resume.failed": joined("failure", "message"),
  "run.started": joined("trigger"),
  "run.waiting": joined("wait_kind"),
  "run.stalled": (record) => `quiet for ${Math.round(number(record["quiet_ms"]) / 1000)} s`,
  "run.completed": joined("stop_reason"),
  "run.failed": joined("code", "message"),
  "run.interrupted": joined("reason"),
  "message.user": joined("content"),
  "message.agent": joined("text"),
  "message.thought": joined("text"),
  "tool.call": joined("title", "status"),
  "tool.update": joined("title", "status"),
  plan: joined("text"),
  usage: (record) => `${number(record["used"])} of ${number(record["size"])} tokens`,
  mode: (record) => `${oneLine(record["option"])}: ${oneLine(record["value"])}`,
  "permission.requested": joined("title"),
  "permission.resolved": joined("outcome", "option_id", "by"),
  "token.minted": joined("token_id"),
  "token.revoked": joined("reason"),
  "queue.added": joined("content"),
  "queue.edited": joined("content"),
  "repair.closed_tool": joined("tool_call_id", "outcome"),
  "repair.truncated": (record) => `${number(record["records_lost"])} records lost`,
  "status.derived": joined("status"),
  redacted: () => "content was destroyed",
};

function abilityWords(abilities: unknown): string {
  const known = (abilities ?? {}) as Record<string, unknown>;
  const can = ["resume", "load"].filter((name) => known[name] === true);
  return can.length > 0 ? `can ${can.join(" and ")}` : "cannot resume";
}

export function tellRecord(record: JournalRecord): string {
  return tellers[record.kind]?.(record) ?? joined("by", "reason", "message")(record);
}

/** Pieces that belong together have the same key; null for a record that stands alone. */
function pieceKey(record: JournalRecord): string | null {
  if (record.kind === "message.agent" || record.kind === "message.thought") {
    return `${record.kind} ${text(record["run_id"])} ${text(record["agent_message_id"])}`;
  }
  if (record.kind === "tool.update") return `tool ${text(record["tool_call_id"])}`;
  return record.kind === "usage" || record.kind === "plan" ? record.kind : null;
}

function lineOf(record: JournalRecord): EventLine {
  return { seq: record.seq, last: record.seq, ts: record.ts, kind: record.kind, count: 1, text: tellRecord(record) };
}

export function rawLines(records: readonly JournalRecord[], family: FamilyId): EventLine[] {
  return records.filter((record) => inFamily(record.kind, family)).map(lineOf);
}

/** Merges neighbours with the same key into one line. */
export function groupedLines(records: readonly JournalRecord[], family: FamilyId): EventLine[] {
  const out: EventLine[] = [];
  let key: string | null = null;
  let words = "";
  for (const record of records) {
    if (!inFamily(record.kind, family)) continue;
    const own = pieceKey(record);
    const line = out.at(-1);
    if (line && own !== null && own === key) {
      line.last = record.seq;
      line.count++;
      const chunk = record.kind.startsWith("message.");
      if (chunk && words.length < 200) words += text(record["text"]);
      line.text = chunk ? oneLine(words) : tellRecord(record) || line.text;
    } else {
      out.push(lineOf(record));
      words = text(record["text"]);
    }
    key = own;
  }
  return out;
}

/** Keeps records in order and without duplicates; the newest `max` remain. */
export function mergeRecords(have: readonly JournalRecord[], more: readonly JournalRecord[], max: number): JournalRecord[] {
  const last = have.at(-1)?.seq ?? 0;
  const first = have[0]?.seq ?? Infinity;
  const newer = more.filter((record) => record.seq > last);
  const older = more.filter((record) => record.seq < first);
  if (have.length === 0) return [...more].slice(-max);
  return [...older, ...have, ...newer].slice(older.length > 0 ? 0 : -max);
}

export function emptyWords(family: FamilyId): string {
  if (family === "all") return "No events yet.";
  const name = families.find((one) => one.id === family)?.name.toLowerCase() ?? family;
  return `No events of “${name}” in this session.`;
}
