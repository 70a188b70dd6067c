// Going through a session's past: by turn, by event, or to any record. The density of its records is read
// once and again while it grows; going anywhere asks the daemon how the session was then.
import type { Density } from "../core/types";
import { app } from "../state/app.svelte";
import type { SessionView } from "../state/session.svelte";
import { turnAfter, turnBefore } from "./timeline";

const again = 4000;

export class PastSteps {
  density: Density | null = $state.raw(null);
  /** Where the handle is while it is being dragged; 0: nowhere. */
  wanted = $state(0);
  #busy = false;
  // What the daemon was last asked for; 0: nothing, or it is no longer wanted.
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

  // Read again when records came since; not more often than every few seconds.
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
      // Few records, few buckets: a short session is no row of single strokes.
      const buckets = Math.min(240, Math.max(24, Math.round(this.view.head / 3)));
      this.density = await app.api.density(this.view.id, buckets);
    } catch {
      // The timeline stays as it is.
    }
  }

  timeOf(seq: number): string {
    if (seq === this.view.past && this.view.pastSession) return this.view.pastSession.updated;
    const bucket = this.density?.buckets.find((one) => one.records > 0 && seq <= one.last_seq);
    return bucket?.from ?? "";
  }

  // Of many wishes the last one is shown; the head is the present.
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

  // Turns are in the density: a step that comes before it, or after more than it knows of, waits for it.
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
