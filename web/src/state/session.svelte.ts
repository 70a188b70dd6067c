// One session as its page sees it. Components read fields and call methods; core/session_log.ts
// turns records into rows.
import { tick, untrack } from "svelte";
import { ApiError } from "../core/api";
import { FarRows } from "../core/far_rows";
import type { Sending } from "../core/outbox";
import { Pace } from "../core/pace";
import { policyOf, resumesOnOpen, type ResumeOnOpen } from "../core/resume_on_open";
import { SessionLog } from "../core/session_log";
import { ToolRecords } from "../core/tool_records";
import { tombstoneOf, type PromptWhen, type RecordEnvelope, type ResumeAnswer, type ResumeHow, type Row, type RowsPage, type Seq, type Session, type Task, type Tombstone } from "../core/types";
import { app } from "./app.svelte";
import { afterPaint } from "./painted";
import { Sender } from "./sender.svelte";

export type { Sending } from "../core/outbox";
export type Phase = "loading" | "ready" | "gone" | "error";
/** Whether the shown rows are current: independent of the socket's own state. */
export type Sync = "live" | "catching_up" | "stale";

const pageRows = 80;
const rowsMax = 500;
const rowsKept = 600;
/**
 * Pause between two visual updates while streaming, in ms: as long as the daemon gathers records.
 */
const usualPause = 50;
const slack = 10;

export class SessionView {
  readonly id: string;
  phase: Phase = $state("loading");
  error: ApiError | null = $state.raw(null);
  session: Session | null = $state.raw(null);
  task: Task | null = $state.raw(null);
  /** After a deletion: its tombstone, if known. */
  tombstone: Tombstone | null = $state.raw(null);
  /** Oldest first; a changed row is a new object with the same id. */
  rows: Row[] = $state.raw([]);
  /** The last record included in `rows`. */
  asOf: Seq = $state(0);
  /** The last record of the session, also while viewing history. */
  head: Seq = $state(0);
  logId = $state("");
  hasOlder = $state(false);
  loadingOlder = $state(false);
  /**
   * Rows end before the head: a place far back is shown. `loadNewer()` and `live()` move towards
   * the present.
   */
  hasNewer = $state(false);
  /** The last record received, also while viewing history. */
  private last: Seq = $state(0);
  readonly sync: Sync = $derived(app.isDropShown ? "stale" : this.last < this.head ? "catching_up" : "live");
  /** The record whose moment is shown; 0: the present. */
  past: Seq = $state(0);
  /** The session's state at that moment. */
  pastSession: Session | null = $state.raw(null);
  /** A resume requested by this page is under way. */
  resuming = $state(false);
  /** Tokens of context, as the agent last reported. */
  usage: { used: number; size: number } | null = $state.raw(null);
  /** Commands that the agent offers, in ACP's format. */
  commands: { name: string; description?: string }[] = $state.raw([]);
  /** A notice about the log: "Reloaded: the log was replaced". Empty: none. */
  notice = $state("");

  private readonly log = new SessionLog();
  private readonly sender: Sender;
  private readonly tools: ToolRecords;
  private readonly listeners = new Set<(record: RecordEnvelope) => void>();
  private stopFollowing: (() => void) | null = null;
  private isOpen = false;
  private timer = 0;
  private readonly pace = new Pace(usualPause);
  private flushedAt = 0;
  private restarting = false;
  private pastAsk = 0;
  /** Rows far back, not connected to the live rows. */
  private far: FarRows | null = null;

  constructor(id: string) {
    this.id = id;
    this.sender = new Sender(id, (session) => this.setSession(session));
    this.tools = new ToolRecords((ask) => app.api.events(id, ask));
  }

  /** Messages being sent: bubbles below the rows. */
  get sends(): Sending[] {
    return this.sender.sends;
  }

  /** Starts following; the returned function stops it. */
  open(): () => void {
    this.isOpen = true;
    if (untrack(() => this.phase) === "ready") void this.goOn();
    else void this.load(true);
    const stopSession = app.onSession(this.id, {
      changed: (session) => this.setSession(session),
      removed: (tombstone) => this.gone(tombstone),
    });
    return () => {
      stopSession();
      this.close();
    };
  }
  close(): void {
    this.isOpen = false;
    this.sender.stop();
    this.stopFollowing?.();
    this.stopFollowing = null;
    clearTimeout(this.timer);
    this.timer = 0;
  }

  private async load(isFirst: boolean): Promise<void> {
    try {
      const start = await app.api.page(this.id, pageRows);
      if (!this.isOpen) return;
      this.log.start(start.rows);
      this.session = start.session;
      this.task = start.task;
      this.phase = "ready";
      this.error = null;
      this.publish();
      this.follow();
      this.sender.start();
      if (isFirst) this.afterOpening(start.resume_on_open);
    } catch (error) {
      this.failed(error);
    }
  }

  // Reopens a view that was left: its rows are valid as of their last record, and the stream
  // continues after it.
  private async goOn(): Promise<void> {
    this.notice = "";
    this.live();
    this.follow();
    this.sender.start();
    try {
      const start = await app.api.page(this.id, 1);
      if (!this.isOpen) return;
      this.task = start.task;
      this.setSession(start.session);
      this.afterOpening(start.resume_on_open);
    } catch (error) {
      this.failed(error);
    }
  }

  private gone(tombstone: Tombstone | null): void {
    this.phase = "gone";
    this.tombstone ??= tombstone;
  }

  private failed(error: unknown): void {
    this.error = error instanceof ApiError ? error : new ApiError("unknown", String(error));
    if (this.error.status === 404) this.gone(tombstoneOf((this.error.body as { tombstone?: unknown } | null)?.tombstone));
    else if (this.phase === "loading") this.phase = "error";
    if (this.error.isOffline && this.isOpen) app.whenLive(() => void this.load(this.phase !== "ready"));
  }

  private afterOpening(daemon: ResumeOnOpen): void {
    // Deferred: in a long session these take the daemon a while, and rows come first.
    afterPaint(() => {
      void this.readLast("usage", (record) => this.saw(record));
      void this.readLast("commands", (record) => this.saw(record));
    });
    const policy = policyOf(app.settings.get("resumeOnOpen"), daemon);
    if (this.session && resumesOnOpen(this.session, policy)) this.resume().catch(() => {});
  }

  private async readLast(kind: string, then: (record: RecordEnvelope) => void): Promise<void> {
    try {
      const { events } = await app.api.events(this.id, { last: 1, kind });
      const last = events[events.length - 1];
      if (last) then(last);
    } catch {
      // Optional.
    }
  }

  private follow(): void {
    this.stopFollowing?.();
    this.stopFollowing = app.connection.follow(this.id, {
      cursor: () => ({ after: this.log.last, log_id: this.log.logId }),
      gatherMs: usualPause,
      record: (_, record) => this.record(record),
      settled: () => this.flushSoon(),
      session: (session) => this.setSession(session),
      changed: () => {},
      head: (seq) => this.setHead(seq),
      refused: (error) => this.refused(error),
    });
  }

  private refused(error: ApiError): void {
    if (error.code === "not_found") return this.gone(null);
    this.notice = "Reloaded: the log was replaced";
    this.tools.clear();
    this.live();
    void this.load(false);
  }

  private record(record: RecordEnvelope): void {
    const applied = this.log.apply(record);
    if (applied === "gap") return app.connection.resubscribe(this.id);
    if (applied === "dropped") return;
    this.saw(record);
    this.tools.saw(record);
    this.sender.saw(record);
    for (const listener of this.listeners) listener(record);
    if (this.log.needsRows) void this.restart();
  }

  private saw(record: RecordEnvelope): void {
    if (record.kind === "usage") this.usage = { used: Number(record["used"] ?? 0), size: Number(record["size"] ?? 0) };
    if (record.kind === "commands") {
      const update = record["update"] as { availableCommands?: { name: string; description?: string }[] } | undefined;
      this.commands = update?.availableCommands ?? [];
    }
  }

  /** Drops rows far above once there are many; scrolling there loads them again. */
  trim(): void {
    if (this.past === 0 && !this.far && !this.loadingOlder && this.log.size > rowsKept) void this.restart(2 * pageRows);
  }

  // Reloads everything from a newer page: to drop rows, or, rarely, because a record mentions a
  // tool of this turn that lies before the loaded part.
  private async restart(tail = Math.min(rowsMax, this.log.size + pageRows)): Promise<void> {
    if (this.restarting) return;
    this.restarting = true;
    try {
      const page = await app.api.rows(this.id, { tail });
      if (this.isOpen && page.log_id === this.log.logId) this.log.restart(page);
      this.flushSoon();
    } catch {
      // The next record tries again.
    } finally {
      this.restarting = false;
    }
  }

  private setSession(session: Session): void {
    if (this.session && session.as_of < this.session.as_of && session.log_id === this.session.log_id) return;
    this.session = session;
    this.setHead(session.as_of);
    this.sender.settle(this.log.rows(), session);
  }

  private setHead(seq: Seq): void {
    this.last = this.log.last;
    this.head = Math.max(this.log.last, seq);
  }

  // Coalesced: one visual update per pause.
  private flushSoon(): void {
    if (this.timer !== 0) return;
    const left = this.flushedAt + this.pace.pause - performance.now();
    // Records that arrive at the daemon's interval are shown at once.
    if (left < slack) void this.flush();
    else this.timer = setTimeout(() => void this.flush(), left) as unknown as number;
  }
  private async flush(): Promise<void> {
    this.timer = 0;
    this.flushedAt = performance.now();
    this.publish();
    await tick();
    // Runs after the list has measured.
    queueMicrotask(() => this.pace.took(performance.now() - this.flushedAt));
  }

  private publish(): void {
    this.logId = this.log.logId;
    this.setHead(Math.max(this.head, this.log.last));
    this.sender.settle(this.log.rows(), this.session);
    if (this.past !== 0) return;
    this.asOf = this.log.last;
    this.rows = this.far ? this.far.with(this.log.rows()) : this.log.rows();
    this.hasOlder = this.far ? this.far.hasOlder : this.log.hasOlder;
    this.hasNewer = this.far?.hasNewer ?? false;
  }

  async loadOlder(): Promise<void> {
    if (this.loadingOlder || !this.hasOlder) return;
    this.loadingOlder = true;
    try {
      await (this.past !== 0 ? this.loadPastOlder() : this.far ? this.loadFarOlder(this.far) : this.loadLogOlder());
    } catch (error) {
      this.error = error instanceof ApiError ? error : null;
    } finally {
      this.loadingOlder = false;
      this.publish();
    }
  }

  private async loadLogOlder(): Promise<void> {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const ticket = this.log.beginPage();
      const parked = new Promise<void>((done) => (ticket.merged = done));
      let page: RowsPage;
      try {
        page = await app.api.rows(this.id, { before: this.log.first, limit: pageRows });
      } catch (error) {
        this.log.abandonPage(ticket);
        throw error;
      }
      const merged = this.log.endPage(ticket, page);
      if (merged === "parked") return parked;
      if (merged === "other_log") return this.load(false);
      if (merged !== "again") return;
    }
  }

  private async loadFarOlder(far: FarRows): Promise<void> {
    far.addOlder(await app.api.rows(this.id, { before: far.first, limit: pageRows }));
  }

  // Older rows at the viewed moment; discarded if the person has moved on.
  private async loadPastOlder(): Promise<void> {
    const ask = this.pastAsk;
    const first = this.rows[0]?.seq ?? 1;
    const page = await app.api.rows(this.id, { at: this.past, before: first, limit: pageRows });
    if (ask !== this.pastAsk) return;
    this.rows = [...page.rows.filter((row) => row.seq < first), ...this.rows];
    this.hasOlder = page.has_older && page.rows.length > 0;
  }

  /** Loads newer rows from a place far back. */
  async loadNewer(): Promise<void> {
    const far = this.far;
    if (!far?.hasNewer || this.loadingOlder) return;
    this.loadingOlder = true;
    try {
      far.addNewer(await app.api.rows(this.id, { around: far.last, limit: 2 * pageRows }), this.log.first);
    } finally {
      this.loadingOlder = false;
      this.publish();
    }
  }

  /** Loads the record's row into `rows`, however old it is. False: there is none. */
  async reveal(seq: Seq): Promise<boolean> {
    this.live();
    const isFar = (): boolean => this.log.hasOlder && seq < this.log.first;
    for (let page = 0; page < 2 && isFar(); page += 1) await this.loadOlder();
    if (isFar()) this.far = new FarRows(await app.api.rows(this.id, { around: seq, limit: 2 * pageRows }), this.log.first);
    this.publish();
    return this.rowOf(seq) !== undefined;
  }

  /** The row that shows a record: the last one that began at or before it. */
  rowOf(seq: Seq): Row | undefined {
    return this.rows.findLast((row) => row.seq <= seq);
  }

  /**
   * Shows the session as it was after this record. Of many quick calls only the last one counts.
   * Rows are shown before the session's state, which takes the daemon longer.
   */
  async at(seq: Seq): Promise<void> {
    const ask = ++this.pastAsk;
    const then = Math.max(1, Math.min(seq, this.head));
    const page = await app.api.rows(this.id, { at: then, tail: pageRows });
    if (ask !== this.pastAsk) return;
    this.past = page.as_of;
    this.pastSession = null;
    this.rows = page.rows;
    this.asOf = page.as_of;
    this.hasOlder = page.has_older;
    this.hasNewer = false;
    void this.stateAt(then, ask);
  }
  private async stateAt(seq: Seq, ask: number): Promise<void> {
    const answer = await app.api.at(this.id, seq, 1).catch(() => null);
    if (answer && ask === this.pastAsk) this.pastSession = answer.session;
  }

  /** Back to the present. */
  live(): void {
    this.pastAsk += 1;
    this.past = 0;
    this.pastSession = null;
    this.far = null;
    this.publish();
  }

  /**
   * Sends exactly once despite lost connections; resolves when the daemon has it on disk, or did
   * not respond.
   */
  send(text: string, options: { when?: PromptWhen; content?: unknown[] } = {}): Promise<void> {
    return this.sender.send(text, options);
  }
  /** After a rejection; uses the same key, so that it is never sent twice. */
  retrySend(key: string): void {
    this.sender.retry(key);
  }
  dropSend(key: string): void {
    this.sender.drop(key);
  }

  /** The first answer wins; `410 permission_closed` means that another one was first. */
  async answer(permission: string, optionId: string, digest = ""): Promise<void> {
    const answer = await app.api.answer(permission, { option_id: optionId, ...(digest ? { if_question: digest } : {}) });
    this.setSession(answer.session);
  }
  async resume(how: ResumeHow = "auto"): Promise<ResumeAnswer> {
    this.resuming = true;
    try {
      const answer = await app.api.resume(this.id, { how });
      this.setSession(answer.session);
      return answer;
    } finally {
      this.resuming = false;
    }
  }
  async cancel(): Promise<void> {
    this.setSession((await app.api.cancel(this.id)).session);
  }
  async stop(): Promise<void> {
    this.setSession((await app.api.stop(this.id)).session);
  }

  /** Whole records of a row (diffs, locations, raw input of a tool): fetched once per revision. */
  recordsOf(row: Row): Promise<RecordEnvelope[]> {
    return this.tools.of(row);
  }
  /** Calls with each live record, not with history. Returns a function that stops it. */
  onRecord(listener: (record: RecordEnvelope) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
