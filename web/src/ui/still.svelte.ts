// Whether an element has stood still for a moment. What appears or moves under a finger must not be pressed by it: a tap is
// aimed at what was there before.
const stillMs = 500;
const lookMs = 50;

export class Still {
  /** It has been there, seen, and where it is, for half a second. */
  isStill = $state(false);
  private element: Element | null = null;
  private last = "";
  private since = Infinity;

  /** `within`: scrolling this by hand is no movement. */
  constructor(private readonly within: () => Element | null = () => null) {}

  private place(): string {
    const at = this.element?.getBoundingClientRect();
    if (!at || at.width === 0 || document.visibilityState !== "visible" || !this.element?.checkVisibility({ visibilityProperty: true })) return "";
    const from = this.within()?.getBoundingClientRect();
    return [at.left - (from?.left ?? 0), at.top - (from?.top ?? 0), at.width, at.height].map(Math.round).join(" ");
  }
  private look(): void {
    const now = this.place();
    if (now !== this.last || now === "") this.since = now === "" ? Infinity : performance.now();
    this.last = now;
    this.isStill = performance.now() - this.since >= stillMs;
  }

  /** At the very moment of a press: it may have moved since the last look. */
  mayPress(): boolean {
    this.look();
    return this.isStill;
  }

  readonly attach = (element: Element): (() => void) => {
    this.element = element;
    this.since = Infinity;
    this.last = "";
    this.look();
    const timer = setInterval(() => this.look(), lookMs);
    return () => clearInterval(timer);
  };
}
