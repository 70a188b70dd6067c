// When what streams is drawn: 33 ms apart with a mouse, 50 ms with a finger, twice that while drawing takes
// more than 8 ms. The first change after a rest is drawn at once.
export interface PaceClock {
  now(): number;
  after(ms: number, run: () => void): unknown;
  stop(timer: unknown): void;
}
const browserClock: PaceClock = {
  now: () => performance.now(),
  after: (ms, run) => setTimeout(run, ms),
  stop: (timer) => clearTimeout(timer as number),
};
const dear = 8;

export class Pace {
  #timer: unknown = null;
  #last = -Infinity;
  #factor = 1;
  constructor(readonly draw: () => void, readonly coarse: boolean, readonly clock: PaceClock = browserClock) {}

  get interval(): number {
    return (this.coarse ? 50 : 33) * this.#factor;
  }

  // Something changed.
  ask(): void {
    if (this.#timer !== null) return;
    const wait = this.#last + this.interval - this.clock.now();
    if (wait <= 0) this.#run();
    else this.#timer = this.clock.after(wait, () => this.#run());
  }

  #run(): void {
    this.#timer = null;
    const start = this.clock.now();
    this.draw();
    this.#last = this.clock.now();
    this.#factor = this.#last - start > dear ? 2 : 1;
  }

  end(): void {
    if (this.#timer !== null) this.clock.stop(this.#timer);
    this.#timer = null;
  }
}
