// The tokens that each turn cost, from the journal's usage records, and how the agent got its
// context. Rule: only numbers that the agent reported are shown; a turn without a report has no
// row, not a zero.
import type { RecordEnvelope } from "./types";

export interface TurnUsage {
  run: string;
  seq: number;
  ts: string;
  used: number;
  size: number;
  /** Increase over the turn before, never less than zero. */
  grown: number;
  cost: string;
}

interface UsageUpdate {
  cost?: { amount?: number; currency?: string };
}

function costOf(record: RecordEnvelope): string {
  const cost = (record["update"] as UsageUpdate | undefined)?.cost;
  if (typeof cost?.amount !== "number") return "";
  return `${cost.amount.toFixed(2)} ${cost.currency ?? ""}`.trim();
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

export function usagePerTurn(records: readonly RecordEnvelope[]): TurnUsage[] {
  const turns = new Map<string, TurnUsage>();
  let before = 0;
  for (const record of records) {
    if (record.kind !== "usage") continue;
    const run = record.run_id ?? record.after_run ?? "";
    const known = turns.get(run);
    const used = number(record["used"]);
    if (!known) before = [...turns.values()].at(-1)?.used ?? 0;
    turns.set(run, {
      run,
      seq: known?.seq ?? record.seq,
      ts: known?.ts ?? record.ts,
      used,
      size: number(record["size"]),
      grown: Math.max(0, used - before),
      cost: costOf(record) || (known?.cost ?? ""),
    });
  }
  return [...turns.values()];
}

/** The origin of a boundary, in a sentence. */
export function boundaryWords(record: RecordEnvelope): string {
  const words: Record<string, string> = {
    fresh: "Started fresh",
    native_resume: "Resumed by the agent itself",
    native_load: "Loaded by the agent, compared with the journal",
    injected: "Started anew, history goes along",
    cleared: "Context was cleared",
    compacted: "Context was compacted",
    handover: "Handed over from another agent",
  };
  return words[String(record["how"])] ?? String(record["how"] ?? "unknown");
}

export function verifiedWords(verified: string): string {
  const words: Record<string, string> = {
    full: "checked in full",
    partial: "checked in part",
    id_only: "its id was checked",
    none: "not checked",
  };
  return words[verified] ?? verified;
}
