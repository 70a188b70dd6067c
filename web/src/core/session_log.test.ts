// Random logs under every network fault: drops, repeats, gaps, pages answered early and late,
// another log. The rows are compared with the truth after every step, not only at the end. Then
// each rule of session_log.ts is disabled in turn, and the same walk must detect it.
import { describe, expect, it } from "vitest";
import { foldClass } from "./fold_class";
import { RowFold } from "./row_fold";
import { SessionLog, type PageTicket } from "./session_log";
import type { RecordEnvelope, Row, RowsPage, Seq } from "./types";

class Dice {
  constructor(private state: number) {}
  next(): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return this.state / 2 ** 32;
  }
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
  chance(p: number): boolean {
    return this.next() < p;
  }
  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
}

function randomRecord(seq: Seq, dice: Dice): RecordEnvelope {
  const base = { v: 1, seq, ts: new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString() };
  const tool_call_id = dice.of(["a", "b", "c"]);
  const agent_message_id = dice.of(["", "", "m1", "m2"]);
  const kind = dice.of([
    "message.agent", "message.agent", "message.agent", "message.thought", "tool.call", "tool.update", "tool.update", "tool.update",
    "usage", "plan", "repair.closed_tool", "repair.closed_message", "executor.reattached", "permission.requested", "message.user",
    "run.completed", "weather",
  ]);
  switch (kind) {
    case "message.agent":
    case "message.thought": return { ...base, kind, text: dice.of(["x", "yy", "z ", ""]), agent_message_id };
    case "message.user": return { ...base, kind, content: `p${seq}`, message_id: `msg_${seq}`, steered: dice.chance(0.7) };
    case "tool.call":
    case "tool.update":
      return { ...base, kind, tool_call_id, title: dice.of(["", `T${seq}`]), status: dice.of(["", "in_progress", "completed"]), text: dice.of(["", "", `o${seq}`]) };
    case "repair.closed_tool": return { ...base, kind, tool_call_id };
    default: return { ...base, kind };
  }
}

/** The daemon: a growing log, and pages of it. */
class Server {
  readonly records: RecordEnvelope[] = [];
  readonly truth: Row[][] = [[]];
  private readonly fold = new RowFold();
  constructor(readonly logId: string, private readonly dice: Dice) {}
  get head(): Seq {
    return this.records.length;
  }
  grow(): void {
    const record = randomRecord(this.head + 1, this.dice);
    this.records.push(record);
    this.fold.apply(record);
    this.truth.push(this.fold.rows());
  }
  page(asOf: Seq, limit: number, before?: Seq): RowsPage {
    const all = (this.truth[asOf] ?? []).filter((row) => before === undefined || row.seq < before);
    const messages = all.filter((row) => row.role !== "mark");
    let from = Math.max(0, messages.length - limit);
    if (from > 0 && messages[from - 1]?.seq === messages[from]?.seq) from -= 1;
    const has_older = from > 0;
    const begin = has_older ? (messages[from]?.seq ?? 1) : 1;
    const rows = all.filter((row) => row.seq >= begin);
    return { log_id: this.logId, as_of: asOf, has_older, has_newer: before !== undefined, total: null, rows, segment_seq: this.segment(asOf, begin, before) };
  }
  // The records that the daemon reads for a page: from before its first row to its end, and on to
  // the point where rows no longer change.
  private segment(asOf: Seq, begin: Seq, before?: Seq): Seq {
    const isEnd = (seq: Seq): boolean => foldClass(this.records[seq - 1] as RecordEnvelope) === "segment";
    let upto = before === undefined ? asOf : before - 1;
    if (before !== undefined) while (upto < asOf && !(upto >= before && isEnd(upto))) upto += 1;
    for (let seq = upto; seq >= Math.max(1, begin - this.dice.below(6)); seq -= 1) if (isEnd(seq)) return seq;
    return 0;
  }
}

/** One client with an arbitrary network. Throws if the rows differ from the truth. */
class Walk {
  private server: Server;
  private stream: Seq = 0;
  private asked: { ticket: PageTicket; before: Seq; page: RowsPage | null } | null = null;
  private lives = 1;
  constructor(protected readonly log: SessionLog, protected readonly dice: Dice) {
    this.server = this.newServer();
    this.open();
  }
  private newServer(): Server {
    const server = new Server(`log_${this.lives++}`, this.dice);
    for (let i = 0; i < 10 + this.dice.below(30); i += 1) server.grow();
    return server;
  }
  private open(): void {
    this.log.start(this.server.page(this.server.head, 3));
    this.stream = this.log.last;
    this.asked = null;
  }
  private deliver(seq: Seq): void {
    const record = this.server.records[seq - 1];
    if (!record) return;
    if (this.log.apply(record) === "gap") this.stream = this.log.last;
    const tail = this.tail();
    if (tail > 0) this.log.restart(this.server.page(this.server.head - this.dice.below(2), tail));
  }
  /** How many rows to read again; 0: none. */
  protected tail(): number {
    return this.log.needsRows ? this.log.size + 3 : 0;
  }
  private settle(): void {
    const asked = this.asked;
    if (!asked?.page) return;
    this.asked = null;
    const merged = this.log.endPage(asked.ticket, asked.page);
    // A stale page proves nothing; the rejected cursor of the next subscription detects the other
    // log.
    if (merged === "other_log" || (merged === "stale" && this.log.logId !== this.server.logId)) this.open();
  }
  step(): void {
    const dice = this.dice;
    const does = dice.below(14);
    if (does < 3) this.server.grow();
    else if (does < 7) this.deliver(++this.stream);
    else if (does === 7) this.stream += 1; // lost
    else if (does === 8) this.deliver(1 + dice.below(this.stream + 1)); // repeated
    else if (does === 9) this.stream = this.log.last; // a new subscription
    else if (does === 10 && !this.asked && this.log.hasOlder) this.asked = { ticket: this.log.beginPage(), before: this.log.first, page: null };
    else if (does === 11 && this.asked && !this.asked.page) {
      // Answered at a random moment, sometimes with an older head than this client knows.
      const asOf = dice.chance(0.2) ? Math.max(this.asked.before, this.log.last - dice.below(4)) : this.server.head;
      this.asked.page = this.server.page(Math.min(asOf, this.server.head), 2, this.asked.before);
    } else if (does === 12) this.settle();
    else if (does === 13 && dice.chance(0.05)) {
      this.server = this.newServer();
      if (dice.chance(0.5)) this.open();
      else if (this.asked && !this.asked.page) this.asked.page = this.server.page(this.server.head, 2, 5);
      else this.open();
      if (this.log.logId !== this.server.logId) {
        this.settle();
        if (this.log.logId !== this.server.logId) throw new Error("another log was not noticed");
      }
    }
    this.stream = Math.min(this.stream, this.server.head);
    this.check();
  }
  check(): void {
    if (this.log.needsRows) return;
    const truth = (this.server.truth[this.log.last] ?? []).filter((row) => row.seq >= this.log.first || this.log.size === 0);
    const shown = this.log.rows();
    const same = JSON.stringify(shown) === JSON.stringify(truth.slice(truth.length - shown.length));
    if (!same || new Set(shown.map((row) => row.id)).size !== shown.length) throw new Error("the rows are not the truth");
    if (!this.log.hasOlder && shown.length !== truth.length) throw new Error("rows are missing");
  }
  finish(): void {
    while (this.log.last < this.server.head) {
      this.stream = this.log.last;
      this.deliver(++this.stream);
      this.check();
    }
  }
}

/** A walk that sometimes drops the rows above. */
class TrimmingWalk extends Walk {
  protected override tail(): number {
    return super.tail() || (this.dice.chance(0.05) ? 4 : 0);
  }
}

function walk(seed: number, make: () => SessionLog, kind = Walk, steps = 160): void {
  const dice = new Dice(seed);
  const one = new kind(make(), dice);
  for (let i = 0; i < steps; i += 1) one.step();
  one.finish();
}

const seeds = Number(process.env["PERDURE_FUZZ_SEEDS"] ?? 120);

describe("a session's log", () => {
  it.each([["", Walk], [", also where rows are let go", TrimmingWalk]])("is the truth after every step of a bad network%s", (_, kind) => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      try {
        walk(seed, () => new SessionLog(), kind);
      } catch (error) {
        throw new Error(`seed ${seed}: ${String(error)}`);
      }
    }
  }, 60_000);

  const mutants: Record<string, () => SessionLog> = {
    "gaps are not noticed": () => new (class extends SessionLog {
      protected override isGap(): boolean { return false; }
    })(),
    "what is here comes in again": () => new (class extends SessionLog {
      protected override isKnown(): boolean { return false; }
      protected override isGap(seq: Seq): boolean { return seq > this.last + 1; }
    })(),
    "a page of before it was asked for is taken": () => new (class extends SessionLog {
      protected override isTooOld(): boolean { return false; }
    })(),
    "a page from ahead is taken at once": () => new (class extends SessionLog {
      protected override isAhead(): boolean { return false; }
    })(),
    "what came since is not replayed onto a page": () => new (class extends SessionLog {
      protected override replayed(): RecordEnvelope[] { return []; }
    })(),
    "a page of another log is taken": () => new (class extends SessionLog {
      protected override isOther(): boolean { return false; }
    })(),
  };
  it.each(Object.entries(mutants))("fails where %s", (_, make) => {
    const all = (): void => {
      for (let seed = 1; seed <= seeds; seed += 1) walk(seed, make);
    };
    expect(all).toThrow();
  }, 60_000);
});
