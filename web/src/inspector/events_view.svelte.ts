// The records of one session for the Events panel: loads the newest first, older ones on demand,
// new ones live. Rule: records are in order and unique; a selected record stays selected when
// others arrive.
import type { Api } from "../core/api";
import { groupedLines, mergeRecords, rawLines, type EventLine, type FamilyId, type JournalRecord } from "../core/event_list";

const pageSize = 200;
const keepMax = 5000;
const gather = 100;

export class EventsView {
  records: JournalRecord[] = $state.raw([]);
  family: FamilyId = $state("all");
  grouped = $state(true);
  selected = $state(0);
  loading = $state(false);
  error = $state("");
  hasOlder = $state(false);
  readonly #coming: JournalRecord[] = [];

  readonly lines: EventLine[] = $derived(
    this.grouped ? groupedLines(this.records, this.family) : rawLines(this.records, this.family),
  );
  readonly record: JournalRecord | null = $derived(this.records.find((one) => one.seq === this.selected) ?? null);

  constructor(
    private readonly api: Api,
    private readonly session: string,
  ) {}

  get last(): number {
    return this.records.at(-1)?.seq ?? 0;
  }

  /** Starts at the end, or around the event that a link names. */
  async start(head: number, seq: number): Promise<void> {
    const before = seq > 0 ? Math.min(head, seq + pageSize / 2) + 1 : head + 1;
    await this.#load({ before, limit: pageSize });
    if (seq > 0) this.selected = seq;
  }

  async older(): Promise<void> {
    const first = this.records[0]?.seq ?? 0;
    if (first > 1 && !this.loading) await this.#load({ before: first, limit: pageSize });
  }

  /** Fetches records after the newest one here; the session's head triggers it. */
  async catchUp(head: number): Promise<void> {
    if (this.records.length === 0 || this.loading) return;
    while ((this.#coming.at(-1)?.seq ?? this.last) < head) {
      const before = this.last;
      await this.#load({ after: before, limit: 1000 });
      if (this.last === before) return;
    }
  }

  /** Buffers live records: a stream delivers a hundred per second. */
  add(record: JournalRecord): void {
    const last = this.#coming.at(-1)?.seq ?? this.last;
    if (this.records.length === 0 || record.seq !== last + 1) return;
    this.#coming.push(record);
    if (this.#coming.length === 1) setTimeout(() => this.#put(this.#coming.splice(0)), gather);
  }

  #put(more: readonly JournalRecord[]): void {
    this.records = mergeRecords(this.records, more, keepMax);
    this.hasOlder = (this.records[0]?.seq ?? 1) > 1;
  }

  async #load(ask: { after?: number; before?: number; limit?: number }): Promise<void> {
    this.loading = true;
    try {
      const page = await this.api.events(this.session, ask);
      this.#put(page.events as JournalRecord[]);
      this.error = "";
    } catch (error) {
      this.error = error instanceof Error ? error.message : String(error);
    } finally {
      this.loading = false;
    }
  }
}
