// A session's rows in this page, exact at every moment. Rules that guarantee it:
//   another log_id      start over from a page of the daemon
//   seq <= last         drop it: it is already applied
//   seq != last + 1     a gap: subscribe again after `last`
//   a page of rows      is valid as of its `as_of`. If older than the position at its request:
//                       request it again. If newer than `last`: park it until the stream is there.
//                       Otherwise replay later records onto its rows only; all other rows have
//                       seen them.
import { RowFold } from "./row_fold";
import type { RecordEnvelope, Row, RowsPage, Seq } from "./types";

export type Applied = "applied" | "dropped" | "gap";
export type Merged = "merged" | "parked" | "again" | "other_log" | "stale";

/** A requested page that has not arrived yet. */
export interface PageTicket {
  readonly begin: Seq;
  readonly life: number;
  readonly kept: RecordEnvelope[];
  page: RowsPage | null;
  merged: (() => void) | null;
}

// Keeps the existing row if the new one is equal. A mark never changes.
function sameAs(old: Row | undefined, row: Row): Row {
  if (!old) return row;
  if (old.role === "mark" && row.role === "mark" && old.rev === row.rev) return old;
  const names = Object.keys(row) as (keyof Row)[];
  return names.every((name) => old[name] === row[name]) ? old : row;
}

export class SessionLog {
  logId = "";
  last: Seq = 0;
  hasOlder = false;
  private fold = new RowFold();
  private life = 0;
  private readonly tickets = new Set<PageTicket>();
  private shown: Row[] | null = null;

  get first(): Seq {
    return this.fold.first;
  }
  get size(): number {
    return this.fold.size;
  }
  /**
   * A record mentioned a tool that may lie before the loaded part: call `restart` from the last
   * rows.
   */
  get needsRows(): boolean {
    return this.fold.asked.size > 0;
  }
  rows(): Row[] {
    return (this.shown ??= this.fold.rows());
  }

  /** Replaces everything with the daemon's own fold of the end. */
  start(page: RowsPage): void {
    this.life += 1;
    this.tickets.clear();
    this.fold = new RowFold();
    this.fold.load(page.rows, page.segment_seq, page.has_older);
    this.logId = page.log_id;
    this.last = page.as_of;
    this.hasOlder = page.has_older;
    this.shown = null;
  }

  /**
   * Reloads the same log from a newer page. Records after that page form a gap and are sent again.
   */
  restart(page: RowsPage): void {
    const asked = this.fold.asked;
    const known = new Map(this.rows().map((row) => [row.id, row]));
    // Unchanged rows keep their object, so that they are not redrawn.
    this.start({ ...page, rows: page.rows.map((row) => sameAs(known.get(row.id), row)) });
    this.fold.settleAsked(asked, page.as_of);
  }

  apply(record: RecordEnvelope): Applied {
    if (this.isKnown(record.seq)) return "dropped";
    if (this.isGap(record.seq)) return "gap";
    this.last = record.seq;
    this.shown = null;
    this.fold.apply(record);
    for (const ticket of this.tickets) {
      ticket.kept.push(record);
      if (ticket.page && ticket.page.as_of <= this.last) this.finish(ticket, ticket.page);
    }
    return "applied";
  }

  protected isKnown(seq: Seq): boolean {
    return seq <= this.last;
  }
  protected isGap(seq: Seq): boolean {
    return seq !== this.last + 1;
  }
  protected isTooOld(page: RowsPage, ticket: PageTicket): boolean {
    return page.as_of < ticket.begin;
  }
  protected isAhead(page: RowsPage): boolean {
    return page.as_of > this.last;
  }
  protected isOther(page: RowsPage): boolean {
    return page.log_id !== this.logId;
  }
  protected replayed(ticket: PageTicket, page: RowsPage): RecordEnvelope[] {
    return ticket.kept.filter((record) => record.seq > page.as_of);
  }

  /** Call before requesting a page of rows. */
  beginPage(): PageTicket {
    const ticket: PageTicket = { begin: this.last, life: this.life, kept: [], page: null, merged: null };
    this.tickets.add(ticket);
    return ticket;
  }

  abandonPage(ticket: PageTicket): void {
    this.tickets.delete(ticket);
  }

  /**
   * Call when the page arrives. `again`: request it again with another ticket. `parked`: it is
   * merged as soon as the stream reaches it.
   */
  endPage(ticket: PageTicket, page: RowsPage): Merged {
    if (ticket.life !== this.life) return "stale";
    if (this.isOther(page)) {
      this.tickets.delete(ticket);
      return "other_log";
    }
    if (this.isTooOld(page, ticket)) {
      this.tickets.delete(ticket);
      return "again";
    }
    if (this.isAhead(page)) {
      ticket.page = page;
      return "parked";
    }
    this.finish(ticket, page);
    return "merged";
  }

  private finish(ticket: PageTicket, page: RowsPage): void {
    this.tickets.delete(ticket);
    const fragment = new RowFold(true);
    fragment.load(page.rows.filter((row) => !this.fold.has(row.id)), page.segment_seq, page.has_older);
    fragment.forgetTools(this.fold.calledUpTo(page.as_of));
    for (const record of this.replayed(ticket, page)) fragment.apply(record);
    this.hasOlder = page.has_older;
    this.fold.adopt(fragment, page.has_older);
    this.shown = null;
    ticket.merged?.();
  }
}
