// Moves through a session's past: by turn, by event, or to any record. The record density is read
// again as the session grows; each move fetches the session's state at that record.
import type { Density } from "../core/types";
import { app } from "../state/app.svelte";
import type { SessionView } from "../state/session.svelte";
import { turnAfter, turnBefore } from "./timeline";

const again = 4000;

export class PastSteps {
  density: Density | null = $state.raw(null);
  /** Position of the handle while dragging; 0: not dragging. */
  wanted = $state(0);
  #busy = false;
  // The record last requested from the daemon; 0: none, or no longer wanted.
  #asked = 0;
  #readAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | null = null;

  constructor(readonly view: SessionView) {}

  get at(): number {
    return this.wanted || this.view.past || this.view.head;
  }
  get hasBefore(): boolean {
    return this.at > 1;
  }

  // Reads the density again after new records, at most once every few seconds.
  refresh(head: number): () => void {
    if (this.density && this.density.as_of >= head) return () => {};
    this.#timer = setTimeout(() => void this.#read(), Math.max(0, this.#readAt + again - Date.now()));
    return () => clearTimeout(this.#timer);
  }
  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => (this.#reading = null));
    return this.#reading;
  }
  async #readNow(): Promise<void> {
    this.#readAt = Date.now();
    try {
      // Few records get few buckets: otherwise a short session would be a row of single strokes.
      const buckets = Math.min(240, Math.max(24, Math.round(this.view.head / 3)));
      this.density = await app.api.density(this.view.id, buckets);
    } catch {
      // Keeps the timeline as it is.
    }
  }

  timeOf(seq: number): string {
    if (seq === this.view.past && this.view.pastSession) return this.view.pastSession.updated;
    const bucket = this.density?.buckets.find((one) => one.records > 0 && seq <= one.last_seq);
    return bucket?.from ?? "";
  }

  // Only the last of several requests is shown; the head is the present.
  async to(seq: number): Promise<void> {
    const head = this.view.head;
    if (seq >= head) {
      this.wanted = 0;
      this.#asked = 0;
      return this.view.live();
    }
    this.wanted = Math.max(1, seq);
    if (this.#busy) return;
    this.#busy = true;
    try {
      while (this.wanted !== 0 && this.wanted !== this.#asked) {
        this.#asked = this.wanted;
        await this.view.at(this.#asked);
      }
    } catch (error) {
      app.tell(error instanceof Error ? error.message : "The past could not be read", "failure");
    } finally {
      this.#busy = false;
      this.#asked = 0;
      this.wanted = 0;
    }
  }

  // Turns come from the density: wait if it is not loaded or older than the head.
  async turn(by: 1 | -1): Promise<void> {
    if (!this.density || this.density.as_of < this.view.head) await this.#read();
    if (!this.density) return app.tell("The timeline could not be read; try again", "failure");
    const next = by < 0 ? turnBefore(this.density, this.at) : turnAfter(this.density, this.at);
    return this.to(next ?? this.view.head);
  }
  event(by: number): void {
    void this.to(this.at + by);
  }
}
