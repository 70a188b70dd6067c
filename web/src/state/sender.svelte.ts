// Sends messages of one session: each is retried under one key until the daemon confirms it, so
// that it arrives exactly once despite lost connections and reloads.
import { ApiError } from "../core/api";
import { idempotencyKey } from "../core/ids";
import { Outbox, type Sending } from "../core/outbox";
import type { PromptWhen, RecordEnvelope, Row, Session } from "../core/types";
import { app } from "./app.svelte";
import { readStored, writeStored } from "./settings.svelte";

export class Sender {
  /** Bubbles to show below the rows. */
  sends: Sending[] = $state.raw([]);
  private readonly outbox: Outbox;
  private isStopped = false;

  constructor(
    private readonly id: string,
    private readonly accepted: (session: Session) => void,
  ) {
    const name = `perdure.sends.${id}`;
    this.outbox = new Outbox({
      read: () => readStored<Sending[]>(name) ?? [],
      write: (sends) => writeStored(name, sends.length > 0 ? sends : null),
    });
    this.sends = this.outbox.all();
  }

  /** Resumes messages that an earlier page could not send or confirm. */
  start(): void {
    this.isStopped = false;
    for (const sending of this.outbox.unsent()) void this.deliver(sending);
  }
  stop(): void {
    this.isStopped = true;
  }

  async send(text: string, options: { when?: PromptWhen; content?: unknown[] }): Promise<void> {
    const sending: Sending = {
      key: idempotencyKey(), text, when: options.when ?? "auto", at: Date.now(), state: "sending", message_id: "", error: "",
      ...(options.content ? { content: options.content } : {}),
    };
    this.outbox.add(sending);
    this.show();
    await this.deliver(sending);
  }
  retry(key: string): void {
    this.outbox.change(key, { state: "sending", error: "" });
    this.show();
    const sending = this.outbox.find(key);
    if (sending) void this.deliver(sending);
  }
  drop(key: string): void {
    this.outbox.drop(key);
    this.show();
  }

  saw(record: RecordEnvelope): void {
    this.outbox.saw(record);
  }
  /** Removes bubbles whose message is now shown elsewhere. */
  settle(rows: Row[], session: Session | null): void {
    this.outbox.settle(rows, session);
    this.show();
  }

  private show(): void {
    this.sends = this.outbox.all();
  }

  private async deliver(sending: Sending): Promise<void> {
    const body = sending.content ? { content: sending.content } : { text: sending.text };
    try {
      const answer = await app.api.prompt(this.id, { ...body, when: sending.when }, sending.key);
      this.outbox.change(sending.key, { state: "accepted", message_id: answer.message_id });
      this.show();
      this.accepted(answer.session);
    } catch (error) {
      const isRefused = error instanceof ApiError && !error.isOffline && error.status < 500;
      // No response: it may have arrived or not. The same key is sent again once the daemon is
      // back.
      if (isRefused) this.outbox.change(sending.key, { state: "failed", error: error.message });
      else app.whenLive(() => this.again(sending.key));
      this.show();
    }
  }
  private again(key: string): void {
    const sending = this.outbox.find(key);
    if (!this.isStopped && sending?.state === "sending") void this.deliver(sending);
  }
}
