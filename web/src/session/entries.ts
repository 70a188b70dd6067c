// Turns rows of the log into entries of the transcript: calls joined with their results and
// questions, quiet tools gathered into one line, older turns folded. Pure. An unchanged turn
// returns the same entries, so that the cost depends on what changed, not on the session's length.
import type { MarkRow, MessageRow, RecordEnvelope, Row } from "../core/types";

export interface Tool {
  readonly call: MessageRow;
  readonly result: MessageRow | null;
  readonly permission: RecordEnvelope | null; // the question asked about this call
}
export interface Plan {
  readonly run: string;
  readonly seq: number; // of its first record
  readonly rev: number; // of its last record
  readonly at: string;
  readonly items: readonly { readonly content: string; readonly status: string }[];
}
interface Place {
  readonly id: string;
  readonly seq: number;
  readonly rev: number;
  readonly at: string;
}
export type Entry = Place &
  (
    | { readonly kind: "user"; readonly row: MessageRow }
    | { readonly kind: "text"; readonly row: MessageRow }
    | { readonly kind: "thought"; readonly row: MessageRow }
    | { readonly kind: "tool"; readonly tool: Tool }
    | { readonly kind: "quiet"; readonly tools: readonly Tool[] }
    | { readonly kind: "plan"; readonly plan: Plan }
    | { readonly kind: "mark"; readonly record: RecordEnvelope }
    | { readonly kind: "fold"; readonly turn: string; readonly tools: readonly Tool[]; readonly steps: number; readonly folded: boolean }
  );
export type Dot = "you" | "agent" | "small" | "needs" | "error" | "boundary";

export interface Turn {
  readonly id: string; // id of its prompt's row; "0" before the first prompt
  readonly rows: readonly Row[];
}

export function turnsOf(rows: readonly Row[]): Turn[] {
  const turns: { id: string; rows: Row[] }[] = [];
  for (const row of rows) {
    const starts = row.role === "user" && !row.steered;
    const last = turns.at(-1);
    if (starts || !last) turns.push({ id: starts ? row.id : "0", rows: [row] });
    else last.rows.push(row);
  }
  return turns;
}

const quietKinds = new Set(["read", "search", "fetch", "think"]);
const isFailed = (tool: Tool): boolean => tool.call.status === "failed" || tool.call.outcome === "unknown";
export const isQuiet = (tool: Tool): boolean => quietKinds.has(tool.call.tool_kind) && !isFailed(tool) && !tool.permission;

const place = (row: MessageRow, suffix = ""): Place => ({ id: `${row.id}${suffix}`, seq: row.seq, rev: row.rev, at: row.timestamp });

class TurnFold {
  readonly entries: Entry[] = [];
  #tools = new Map<string, number>(); // tool call id → index of its entry

  add(row: Row): void {
    if (row.role === "mark") this.#mark(row);
    else if (row.role === "user") this.entries.push({ kind: "user", row, ...place(row) });
    else if (row.role === "assistant") this.#assistant(row);
    else if (row.role === "tool_call") this.#call(row);
    else this.#result(row);
  }

  #assistant(row: MessageRow): void {
    if (row.thinking) this.entries.push({ kind: "thought", row, ...place(row, ".thought") });
    if (row.content) this.entries.push({ kind: "text", row, ...place(row) });
  }
  #call(row: MessageRow): void {
    this.#tools.set(row.tool_call_id, this.entries.length);
    this.entries.push({ kind: "tool", tool: { call: row, result: null, permission: null }, ...place(row) });
  }
  #change(id: string, change: (tool: Tool, rev: number) => { tool: Tool; rev: number }): boolean {
    const index = this.#tools.get(id);
    const entry = index === undefined ? undefined : this.entries[index];
    if (index === undefined || entry?.kind !== "tool") return false;
    this.entries[index] = { ...entry, ...change(entry.tool, entry.rev) };
    return true;
  }
  #result(row: MessageRow): void {
    const joined = this.#change(row.tool_call_id, (tool, rev) => ({ tool: { ...tool, result: row }, rev: Math.max(rev, row.rev) }));
    if (joined) return;
    this.entries.push({ kind: "tool", tool: { call: row, result: row, permission: null }, ...place(row) });
  }
  #mark(row: MarkRow): void {
    const { record } = row;
    const asked = record.kind === "permission.requested" && typeof record["tool_call_id"] === "string" ? record["tool_call_id"] : "";
    if (asked && this.#change(asked, (tool, rev) => ({ tool: { ...tool, permission: record }, rev: Math.max(rev, row.rev) }))) return;
    this.entries.push({ kind: "mark", record, id: row.id, seq: row.seq, rev: row.rev, at: record.ts });
  }
  plan(plan: Plan): void {
    this.entries.push({ kind: "plan", plan, id: `${plan.seq}.plan`, seq: plan.seq, rev: plan.rev, at: plan.at });
  }
}

function gatherQuiet(entries: readonly Entry[]): Entry[] {
  const out: Entry[] = [];
  for (const entry of entries) {
    const last = out.at(-1);
    if (entry.kind !== "tool" || !isQuiet(entry.tool)) out.push(entry);
    else if (last?.kind === "quiet") out[out.length - 1] = { ...last, tools: [...last.tools, entry.tool], rev: Math.max(last.rev, entry.rev) };
    else out.push({ kind: "quiet", tools: [entry.tool], id: entry.id, seq: entry.seq, rev: entry.rev, at: entry.at });
  }
  return out;
}

function unfolded(turn: Turn, plans: readonly Plan[]): Entry[] {
  const fold = new TurnFold();
  const waiting = [...plans];
  for (const row of turn.rows) {
    while (waiting[0] && waiting[0].seq < row.seq) fold.plan(waiting.shift() as Plan);
    fold.add(row);
  }
  for (const plan of waiting) fold.plan(plan);
  return gatherQuiet(fold.entries);
}

// Keeps the prompt, its answer, and marks that must not be missed; the steps between become one
// line.
function folded(turn: Turn, all: readonly Entry[], isFolded: boolean): Entry[] {
  const answer = all.findLast((entry) => entry.kind === "text");
  const stays = (entry: Entry): boolean => entry.kind === "user" || entry.kind === "mark" || entry === answer;
  const hidden = all.filter((entry) => !stays(entry));
  const first = hidden[0];
  if (!first || hidden.length < 2) return [...all];
  const tools = hidden.flatMap((entry) => (entry.kind === "tool" ? [entry.tool] : entry.kind === "quiet" ? [...entry.tools] : []));
  const line: Entry = { kind: "fold", turn: turn.id, tools, steps: hidden.length, folded: isFolded, id: `${turn.id}.fold`, seq: first.seq, rev: first.rev, at: first.at };
  const shown: Entry[] = [];
  for (const entry of all) {
    if (entry === first) shown.push(line);
    if (!isFolded || stays(entry)) shown.push(entry);
  }
  return shown;
}

interface Kept {
  readonly turn: Turn;
  readonly plans: readonly Plan[];
  readonly mode: string;
  readonly entries: readonly Entry[];
}
const sameList = <T>(a: readonly T[], b: readonly T[]): boolean => a.length === b.length && a.every((item, index) => item === b[index]);

export class Entries {
  #kept = new Map<string, Kept>();

  // `isOpen`: whether the person unfolded that turn.
  of(rows: readonly Row[], plans: readonly Plan[], isOpen: (turn: string) => boolean): Entry[] {
    const turns = turnsOf(rows);
    const next = new Map<string, Kept>();
    const out: Entry[] = [];
    turns.forEach((turn, index) => {
      const end = turns[index + 1]?.rows[0]?.seq ?? Infinity;
      const start = turn.rows[0]?.seq ?? 0;
      const own = plans.filter((plan) => plan.seq >= start && plan.seq < end);
      const mode = index >= turns.length - 2 || turn.id === "0" ? "whole" : isOpen(turn.id) ? "open" : "folded";
      const old = this.#kept.get(turn.id);
      const kept = old && old.mode === mode && sameList(old.turn.rows, turn.rows) && sameList(old.plans, own) ? old : this.#make(turn, own, mode);
      next.set(turn.id, kept);
      out.push(...kept.entries);
    });
    this.#kept = next;
    return out;
  }

  #make(turn: Turn, plans: readonly Plan[], mode: string): Kept {
    const all = unfolded(turn, plans);
    return { turn, plans, mode, entries: mode === "whole" ? all : folded(turn, all, mode === "folded") };
  }
}

const errorKinds = new Set(["run.failed", "run.interrupted", "resume.failed", "executor.error"]);

export function dotOf(entry: Entry, waiting: (permission: string) => boolean): Dot {
  switch (entry.kind) {
    case "user": return "you";
    case "quiet": case "thought": case "fold": return "small";
    case "mark":
      if (errorKinds.has(entry.record.kind)) return "error";
      return entry.record.kind === "permission.requested" ? (waiting(String(entry.record["perm_id"])) ? "needs" : "small") : "boundary";
    case "tool": return entry.tool.permission && waiting(String(entry.tool.permission["perm_id"])) ? "needs" : "agent";
    default: return "agent";
  }
}

// The entry that shows an event: the last one that begins at or before it.
export function indexOfSeq(entries: readonly Entry[], seq: number): number {
  let found = -1;
  entries.forEach((entry, index) => {
    if (entry.seq <= seq) found = index;
  });
  return found;
}

// The folded turn that hides the row of an event; null: it is visible.
export function foldedTurnOf(rows: readonly Row[], entries: readonly Entry[], seq: number): string | null {
  const row = rows.findLast((one) => one.seq <= seq);
  const turn = turnsOf(rows).findLast((one) => (one.rows[0]?.seq ?? Infinity) <= seq);
  if (!row || !turn || entries.some((entry) => entry.kind !== "fold" && entry.seq === row.seq)) return null;
  return entries.some((entry) => entry.kind === "fold" && entry.folded && entry.turn === turn.id) ? turn.id : null;
}
