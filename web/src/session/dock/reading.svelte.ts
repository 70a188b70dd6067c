// How much of a scrolled box has been on the screen, from its beginning: a jump to the end does not
// count what lies between. Once complete, it stays complete.
export class Reading {
  isDone = $state(false);
  /** Part of it has not been shown yet. */
  isClamped = $state(false);
  percent = $state(0);
  private box: HTMLElement | null = null;
  private seenTo = 0; // in pixels of the box's content
  private height = 0;

  /** `isComplete`: the box has its whole content. */
  constructor(private readonly isComplete: () => boolean) {}

  readonly look = (): void => {
    const { box } = this;
    if (!box || this.isDone || !this.isComplete() || document.visibilityState !== "visible" || box.clientHeight === 0) return;
    // After a change of width the text wraps differently: start over.
    if (box.scrollHeight < this.height) this.seenTo = 0;
    this.height = box.scrollHeight;
    if (box.scrollTop <= this.seenTo + 1) this.seenTo = Math.max(this.seenTo, box.scrollTop + box.clientHeight);
    this.isDone = this.seenTo >= box.scrollHeight - 2;
    this.isClamped = !this.isDone;
    this.percent = Math.min(99, Math.floor((100 * this.seenTo) / Math.max(1, box.scrollHeight)));
  };

  /** Scrolls to the first part that has not been shown. */
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
