// How often streaming content is drawn: at the usual rate, and less often if drawing is slow, so
// that it takes only a bounded share of the main thread on any machine and any page size. Pure.

/** The pause is this many times an update's cost; the frame after it costs about as much again. */
const share = 21;
const longest = 150;
/** Weight of the newest update: a single slow update has little effect. */
const weight = 0.25;

export class Pace {
  private cost = 0;

  constructor(private readonly usual: number) {}

  /** Records the duration of an update, in ms. */
  took(ms: number): void {
    this.cost += (ms - this.cost) * weight;
  }

  /** From one update to the next, in ms. */
  get pause(): number {
    return Math.min(longest, Math.max(this.usual, this.cost * share));
  }
}
