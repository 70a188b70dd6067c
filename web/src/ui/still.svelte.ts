// Whether an element has stood still for a moment. A tap is aimed at what was there before, so an
// element that appears or moves under a finger must not accept it.
const stillMs = 500;
const lookMs = 50;

export class Still {
  /** It has been visible and in place for 500 ms. */
  isStill = $state(false);
  private element: Element | null = null;
  private last = "";
  private since = Infinity;

  /** `within`: scrolling this element by hand does not count as movement. */
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

  /** Checked at the moment of a press: it may have moved since the last check. */
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
