// State of a session's page that is not in its rows: plans, answers to questions, and unfolded
// entries. Plans and answers are read once from the records around the tail, then followed live.
import { SvelteMap } from "svelte/reactivity";
import type { RecordEnvelope } from "../core/types";
import { app } from "../state/app.svelte";
import type { SessionView } from "../state/session.svelte";
import type { Plan } from "./entries";

/** History that was sent with a prompt. */
export interface Injected {
  readonly text: string;
  readonly turns: number;
}
export interface Answer {
  readonly outcome: string;
  readonly option: string;
  readonly name: string; // of the option, in the agent's words
  readonly by: string;
  readonly at: string;
  readonly seq: number;
}

const kept = new Map<string, SvelteMap<string, boolean>>();
const keptSessions = 30;

// Entries that a person opened or closed stay so when they return to the session.
function disclosureOf(session: string): SvelteMap<string, boolean> {
  const old = kept.get(session) ?? new SvelteMap<string, boolean>();
  kept.delete(session);
  kept.set(session, old);
  if (kept.size > keptSessions) kept.delete(kept.keys().next().value ?? "");
  return old;
}

const text = (record: RecordEnvelope, name: string): string => (typeof record[name] === "string" ? (record[name] as string) : "");

function itemsOf(record: RecordEnvelope): Plan["items"] {
  const update = record["update"] as { entries?: { content?: unknown; status?: unknown }[] } | undefined;
  if (!Array.isArray(update?.entries)) return [];
  return update.entries.map((entry) => ({ content: String(entry.content ?? ""), status: String(entry.status ?? "pending") }));
}

export class Facts {
  plans: readonly Plan[] = $state.raw([]);
  readonly answers = new SvelteMap<string, Answer>();
  readonly injected = new SvelteMap<string, Injected>(); // by the prompt's message id
  readonly requests = new SvelteMap<string, RecordEnvelope>(); // questions, by id
  /** The question on the screen, if it has just been answered elsewhere. */
  answeredElsewhere: Answer | null = $state.raw(null);
  readonly #mine = new Set<string>();
  readonly #open: SvelteMap<string, boolean>;
  readonly #asked = new Set<string>();

  constructor(readonly view: SessionView) {
    this.#open = disclosureOf(view.id);
  }

  isOpen(id: string, usual: boolean): boolean {
    return this.#open.get(id) ?? usual;
  }
  open(id: string): void {
    this.#open.set(id, true);
  }
  toggle(id: string, usual: boolean): void {
    this.#open.set(id, !this.isOpen(id, usual));
  }

  answeredHere(permission: string): void {
    this.#mine.add(permission);
  }

  start(): () => void {
    return this.view.onRecord((record) => this.#take(record, true));
  }
  /** Reads what lies before the end of the log, once the end is known. */
  readBack(): void {
    void this.#read("plan", 20);
    void this.#read("context.injected", 10);
  }

  async #read(kind: string, limit: number): Promise<void> {
    try {
      const before = Math.max(this.view.head, this.view.asOf) + 1;
      const page = await app.api.events(this.view.id, before > 1 ? { kind, before, limit } : { kind, limit });
      for (const record of page.events) this.#take(record);
    } catch {
      // Optional: the transcript is correct without it, only less detailed.
    }
  }

  // The answer to a closed question; fetched when first shown.
  answerTo(permission: string, seq: number): Answer | null {
    const known = this.answers.get(permission);
    if (!known && !this.#asked.has(permission)) {
      this.#asked.add(permission);
      queueMicrotask(() => void this.#readAfter(seq));
    }
    return known ?? null;
  }

  async #readAfter(seq: number): Promise<void> {
    try {
      const page = await app.api.events(this.view.id, { kind: "permission.resolved", after: seq, limit: 20 });
      for (const record of page.events) this.#take(record);
    } catch {
      // as above
    }
  }

  // The record of a question, if it is among the rows or has just happened.
  requestOf(permission: string): RecordEnvelope | null {
    const known = this.requests.get(permission);
    if (known) return known;
    const row = this.view.rows.findLast((one) => one.role === "mark" && one.record["perm_id"] === permission);
    return row?.role === "mark" ? row.record : null;
  }

  #take(record: RecordEnvelope, happens = false): void {
    if (record.kind === "plan") this.#plan(record);
    else if (record.kind === "context.injected") this.injected.set(text(record, "message_id"), { text: text(record, "text"), turns: Number(record["turns"] ?? 0) });
    else if (record.kind === "permission.requested") this.requests.set(text(record, "perm_id"), record);
    else if (record.kind === "permission.resolved") {
      const answer = { outcome: text(record, "outcome"), option: text(record, "option_id"), name: text(record, "option_name"), by: text(record, "by"), at: record.ts, seq: record.seq };
      this.answers.set(text(record, "perm_id"), answer);
      if (happens && !this.#mine.has(text(record, "perm_id")) && answer.outcome === "selected") this.#tellElsewhere(answer);
    }
  }

  #tellElsewhere(answer: Answer): void {
    this.answeredElsewhere = answer;
    setTimeout(() => {
      if (this.answeredElsewhere === answer) this.answeredElsewhere = null;
    }, 8000);
  }

  // One plan per run: a later one replaces it in place.
  #plan(record: RecordEnvelope): void {
    const run = record.run_id ?? "";
    const old = this.plans.find((plan) => plan.run === run);
    const items = itemsOf(record);
    if (items.length === 0) return;
    const newer = !old || record.seq > old.rev;
    const first = !old || record.seq < old.seq;
    if (old && !newer && !first) return;
    const plan: Plan = {
      run,
      seq: first ? record.seq : old.seq,
      at: first ? record.ts : old.at,
      rev: newer ? record.seq : old.rev,
      items: newer ? items : old.items,
    };
    this.plans = [...this.plans.filter((one) => one.run !== run), plan].sort((a, b) => a.seq - b.seq);
  }
}
