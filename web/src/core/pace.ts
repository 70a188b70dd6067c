// How often what streams is drawn: as often as usual, and less often where drawing takes long, so that it never has more
// than a part of the main thread, whatever the machine and however large the page. Pure.

/** Of the time between two updates: what one takes until the frame, and about as much again for the frame. */
const share = 21;
const longest = 150;
/** Weight of the newest update: one that was slow by chance slows nothing down. */
const weight = 0.25;

export class Pace {
  private cost = 0;

  constructor(private readonly usual: number) {}

  /** An update took so long, in ms. */
  took(ms: number): void {
    this.cost += (ms - this.cost) * weight;
  }

  /** From one update to the next, in ms. */
  get pause(): number {
    return Math.min(longest, Math.max(this.usual, this.cost * share));
  }
}
