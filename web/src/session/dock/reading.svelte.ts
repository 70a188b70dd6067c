// How much of a scrolled box has been on the screen, from its beginning on: to jump to the end shows nothing of what lies
// between. Done once, it stays so.
export class Reading {
  isDone = $state(false);
  /** Something of it has not been shown yet. */
  isClamped = $state(false);
  percent = $state(0);
  private box: HTMLElement | null = null;
  private seenTo = 0; // in pixels of the box's content
  private height = 0;

  /** `isComplete`: all that belongs into the box is in it. */
  constructor(private readonly isComplete: () => boolean) {}

  readonly look = (): void => {
    const { box } = this;
    if (!box || this.isDone || !this.isComplete() || document.visibilityState !== "visible" || box.clientHeight === 0) return;
    // Of another width it is another text: what was seen of it is not known any more.
    if (box.scrollHeight < this.height) this.seenTo = 0;
    this.height = box.scrollHeight;
    if (box.scrollTop <= this.seenTo + 1) this.seenTo = Math.max(this.seenTo, box.scrollTop + box.clientHeight);
    this.isDone = this.seenTo >= box.scrollHeight - 2;
    this.isClamped = !this.isDone;
    this.percent = Math.min(99, Math.floor((100 * this.seenTo) / Math.max(1, box.scrollHeight)));
  };

  /** The next page of what has not been shown. */
  goOn(): void {
    this.look();
    this.box?.scrollTo({ top: Math.max(0, this.seenTo - 24) });
    this.box?.focus({ preventScroll: true });
  }

  readonly attach = (box: HTMLElement): (() => void) => {
    this.box = box;
    const sizes = new ResizeObserver(this.look);
    const follow = (): void => {
      sizes.disconnect();
      sizes.observe(box);
      for (const child of box.children) sizes.observe(child);
      this.look();
    };
    const children = new MutationObserver(follow);
    children.observe(box, { childList: true, subtree: true });
    box.addEventListener("scroll", this.look);
    document.addEventListener("visibilitychange", this.look);
    follow();
    return () => {
      sizes.disconnect();
      children.disconnect();
      box.removeEventListener("scroll", this.look);
      document.removeEventListener("visibilitychange", this.look);
    };
  };
}
