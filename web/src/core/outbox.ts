// Messages being sent. Each has an idempotency key and stays in storage until the daemon confirms
// that it is on disk, so neither a lost response nor a reload loses or duplicates it. A bubble
// disappears when the row or queued prompt with its message id is shown: it is replaced, never
// doubled.
import type { PromptWhen, RecordEnvelope, Row, Session } from "./types";

export interface Sending {
  key: string;
  text: string;
  content?: unknown[];
  when: PromptWhen;
  at: number;
  state: "sending" | "accepted" | "failed";
  /** Set once the daemon has confirmed it. */
  message_id: string;
  error: string;
}

export interface OutboxStore {
  read(): Sending[];
  write(sends: Sending[]): void;
}

export class Outbox {
  private sends: Sending[];
  constructor(private readonly store: OutboxStore) {
    this.sends = store.read();
  }

  all(): Sending[] {
    return this.sends;
  }
  find(key: string): Sending | undefined {
    return this.sends.find((one) => one.key === key);
  }
  add(sending: Sending): void {
    this.set([...this.sends, sending]);
  }
  change(key: string, change: Partial<Sending>): void {
    this.set(this.sends.map((one) => (one.key === key ? { ...one, ...change } : one)));
  }
  drop(key: string): void {
    this.set(this.sends.filter((one) => one.key !== key));
  }
  /** Messages that the daemon may not have received. */
  unsent(): Sending[] {
    return this.sends.filter((one) => one.state === "sending");
  }

  /**
   * A record names the idempotency key of its request: the response may still be on its way, or
   * lost.
   */
  saw(record: RecordEnvelope): void {
    const key = record["key"];
    const id = record["message_id"];
    if (typeof key !== "string" || typeof id !== "string") return;
    const mine = this.sends.find((one) => key === one.key || key.endsWith(`/${one.key}`));
    if (mine) this.change(mine.key, { state: "accepted", message_id: id });
  }

  /** Removes bubbles whose message is now shown as a row or a queued prompt. */
  settle(rows: Row[], session: Session | null): void {
    if (this.sends.length === 0) return;
    const shown = new Set<string>();
    for (const row of rows) if (row.role === "user" && row.message_id) shown.add(row.message_id);
    for (const queued of session?.queue ?? []) shown.add(queued.message_id);
    if (this.sends.some((one) => shown.has(one.message_id))) this.set(this.sends.filter((one) => !shown.has(one.message_id)));
  }

  private set(sends: Sending[]): void {
    this.sends = sends;
    this.store.write(sends);
  }
}
