// One session as its page sees it. Components read fields and call methods; how records become rows is in
// core/session_log.ts, and nothing here knows it.
import { ApiError } from "../core/api";
import type { RecordEnvelope, ResumeAnswer, ResumeHow, Row, Seq, Session, Task, PromptWhen } from "../core/types";
import { app } from "./app.svelte";

/** A message on its way: shown as a bubble until the row with its message id is there. */
export interface Sending {
  key: string;
  text: string;
  when: PromptWhen;
  at: number;
  state: "sending" | "accepted" | "failed";
  /** Once the daemon has it. */
  message_id: string;
  error: string;
}

export type Phase = "loading" | "ready" | "gone" | "error";
/** Whether what is shown is all there is: independent of the socket's own state. */
export type Sync = "live" | "catching_up" | "stale";

export class SessionView {
  readonly id: string;
  phase: Phase = $state("loading");
  error: ApiError | null = $state.raw(null);
  session: Session | null = $state.raw(null);
  task: Task | null = $state.raw(null);
  /** Oldest first; a row that changed is another object with the same id. */
  rows: Row[] = $state.raw([]);
  /** The last record that is in `rows`. */
  asOf: Seq = $state(0);
  /** The last record there is, also while the past is shown. */
  head: Seq = $state(0);
  logId = $state("");
  hasOlder = $state(false);
  loadingOlder = $state(false);
  /** Rows end before the head: a place in the past is shown. `live()` goes back. */
  hasNewer = $state(false);
  sync: Sync = $state("catching_up");
  /** The record whose moment is shown; 0: the present. */
  past: Seq = $state(0);
  sends: Sending[] = $state.raw([]);
  /** Tokens of context, as the agent last said. */
  usage: { used: number; size: number } | null = $state.raw(null);
  /** Commands that the agent offers, as ACP has them. */
  commands: { name: string; description?: string }[] = $state.raw([]);
  /** Last line said about the log: "Reloaded: the log was replaced". Empty: nothing. */
  notice = $state("");

  constructor(id: string) {
    this.id = id;
  }

  /** Begins to follow; the function that it gives ends that. */
  open(): () => void {
    void this.load();
    return () => this.close();
  }
  close(): void {}

  private async load(): Promise<void> {
    try {
      const [session, page] = await Promise.all([app.api.session(this.id), app.api.rows(this.id, { tail: 80 })]);
      this.session = session;
      this.rows = page.rows;
      this.asOf = this.head = page.as_of;
      this.logId = page.log_id;
      this.hasOlder = page.has_older;
      this.phase = "ready";
    } catch (error) {
      this.error = error instanceof ApiError ? error : new ApiError("unknown", String(error));
      this.phase = this.error.status === 404 ? "gone" : "error";
    }
  }

  async loadOlder(): Promise<void> {}
  /** Shows the session as it was behind this record. */
  async at(_seq: Seq): Promise<void> {}
  /** Makes the record's row one of `rows`, however old it is. True: it is there. */
  async reveal(_seq: Seq): Promise<boolean> { return false; }
  /** Back to the present. */
  live(): void {}

  /** Sends once, whatever happens to the connection; resolves when the daemon has it on disk. */
  async send(_text: string, _options: { when?: PromptWhen; content?: unknown[] } = {}): Promise<void> {}
  retrySend(_key: string): void {}
  dropSend(_key: string): void {}

  /** First answer counts; `410 permission_closed` says that somebody else was first. */
  async answer(permission: string, optionId: string | null): Promise<void> {
    await app.api.answer(permission, optionId === null ? { cancel: true } : { option_id: optionId });
  }
  resume(how: ResumeHow = "auto"): Promise<ResumeAnswer> { return app.api.resume(this.id, { how }); }
  async cancel(): Promise<void> { await app.api.cancel(this.id); }
  async stop(): Promise<void> { await app.api.stop(this.id); }

  /** Whole records behind a row (diffs, locations, raw input of a tool): asked for once per revision. */
  async recordsOf(_row: Row): Promise<RecordEnvelope[]> { return []; }
  /** Called with each record as it happens, not with history. Returns how to stop. */
  onRecord(_listener: (record: RecordEnvelope) => void): () => void { return () => {}; }
}
