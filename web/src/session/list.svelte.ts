// The virtual list of the transcript. @tanstack/virtual-core measures rows and finds those near the
// screen; this file sets the scroll position, by intent. Following is true until the person scrolls
// up; while it is true, any change scrolls to the end. While it is false, the row at the top of the
// screen stays where it is when rows grow, shrink or are added before it. A row that has the focus
// stays mounted.
import { elementScroll, measureElement, observeElementOffset, observeElementRect, Virtualizer, type Range, type VirtualItem } from "@tanstack/virtual-core";
import { defaultRangeExtractor } from "@tanstack/virtual-core";
import { afterPaint } from "../state/painted";

// Several candidate rows, the topmost on the screen first: an older page may merge one into the row
// before it, and its key then disappears.
interface Anchor {
  readonly key: string;
  readonly offset: number; // distance of the screen's top below the row's top
}

const nearEnd = 24;
const nearTop = 1500;
const anchorRows = 6;
const overscan = 6; // rows rendered beyond the screen on each side
const firstOverscan = 1; // until the first rows are drawn
const growing = 3; // rows at the end that may grow while text streams

export class TranscriptList {
  items: readonly VirtualItem[] = $state.raw([]);
  following = $state(true);
  onNearTop: () => void = () => {};
  onNearEnd: () => void = () => {};

  #keys: readonly string[] = [];
  #indexes = new Map<string, number>();
  #estimate: (index: number) => number = () => 60;
  #scroller: HTMLElement | null = null;
  #spacer: HTMLElement | null = null;
  #anchors: readonly Anchor[] = [];
  #pinned: string | null = null;
  #touched = 0; // time of the person's last scroll input
  #holding = false; // a finger or a mouse button is down on the list
  #lastTop = 0;
  #moved = false; // by this list, since the last scroll event
  #overscan = firstOverscan;
  #isOver = false;
  #virtualizer: Virtualizer<HTMLElement, HTMLElement>;

  constructor() {
    this.#virtualizer = new Virtualizer<HTMLElement, HTMLElement>(this.#options());
    // Only this class corrects the scroll position.
    this.#virtualizer.shouldAdjustScrollPositionOnItemSizeChange = () => false;
  }

  #options() {
    return {
      count: this.#keys.length,
      getScrollElement: () => this.#scroller,
      estimateSize: (index: number) => this.#estimate(index),
      getItemKey: (index: number) => this.#keys[index] ?? index,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      measureElement,
      overscan: this.#overscan,
      paddingStart: 16,
      paddingEnd: 16,
      rangeExtractor: (range: Range) => this.#withPinned(defaultRangeExtractor(range)),
      onChange: () => this.#changed(),
    };
  }

  #withPinned(range: number[]): number[] {
    const index = this.#pinned === null ? undefined : this.#indexes.get(this.#pinned);
    if (index === undefined || range.includes(index)) return range;
    return [...range, index].sort((a, b) => a - b);
  }

  // --- content

  update(keys: readonly string[], estimate: (index: number) => number): void {
    this.#estimate = estimate;
    // While text streams the keys stay the same: rows that grew are measured when drawn.
    if (keys.length === this.#keys.length && keys.every((key, index) => key === this.#keys[index])) return;
    this.#keys = keys;
    this.#indexes = new Map(keys.map((key, index) => [key, index]));
    this.#virtualizer.setOptions(this.#options());
    this.#virtualizer._willUpdate();
    this.#changed();
    if (keys.length > 1 && this.#overscan !== overscan) afterPaint(() => this.#widen());
  }

  /**
   * Streaming rows have grown: measures and follows before the frame is drawn, since a move within
   * a frame costs a second frame.
   */
  grown(): void {
    if (!this.#scroller || !this.following) return;
    for (let index = this.#keys.length - 1; index >= Math.max(0, this.#keys.length - growing); index -= 1) {
      const element = this.#virtualizer.elementsCache.get(this.#keys[index] ?? index);
      if (element?.isConnected) this.#virtualizer.resizeItem(index, element.offsetHeight);
    }
  }

  /** The visible rows are drawn: now render those beyond the screen. */
  #widen(): void {
    if (this.#isOver || !this.#scroller || this.#overscan === overscan) return;
    this.#overscan = overscan;
    this.#virtualizer.setOptions(this.#options());
    this.#changed();
  }

  #changed(): void {
    const total = this.#virtualizer.getTotalSize();
    this.#spacer?.style.setProperty("height", `${total}px`);
    this.#settle();
    this.items = this.#virtualizer.getVirtualItems();
  }

  // Corrects the scroll position after a change.
  #settle(): void {
    const scroller = this.#scroller;
    if (!scroller) return;
    if (this.following && this.#holding) return;
    const wanted = this.following ? scroller.scrollHeight - scroller.clientHeight : this.#anchoredTop();
    if (wanted === null || Math.abs(scroller.scrollTop - wanted) < 1) return;
    scroller.scrollTop = wanted;
    this.#lastTop = scroller.scrollTop;
    this.#moved = true;
  }

  #anchoredTop(): number | null {
    if (this.#holding) return null;
    for (const anchor of this.#anchors) {
      const index = this.#indexes.get(anchor.key);
      const item = index === undefined ? undefined : this.#virtualizer.measurementsCache[index];
      if (item) return item.start + anchor.offset;
    }
    return null;
  }

  #takeAnchor(): void {
    const top = this.#scroller?.scrollTop ?? 0;
    const all = this.#virtualizer.measurementsCache;
    const first = all.findIndex((one) => one.end > top);
    this.#anchors = first < 0 ? [] : all.slice(first, first + anchorRows).map((item) => ({ key: String(item.key), offset: top - item.start }));
  }

  // --- input

  // Our listeners run before the virtualizer's: the person's intent is known before anything moves.
  readonly scroller = (element: HTMLElement): (() => void) => {
    this.#scroller = element;
    const listeners: [string, EventListener][] = [
      ["wheel", (event) => this.#wheeled(event as WheelEvent)], ["touchstart", () => this.#hold(true)], ["touchmove", () => this.#hold(true)],
      ["touchend", () => this.#hold(false)], ["touchcancel", () => this.#hold(false)], ["keydown", () => this.#touch()],
      // On the scroll bar the target is the list itself.
      ["pointerdown", (event) => void (event.target === element && this.#hold(true))],
      ["scroll", () => this.#scrolled()], ["focusin", (event) => this.#pin(event)], ["focusout", () => (this.#pinned = null)],
    ];
    for (const [name, listener] of listeners) element.addEventListener(name, listener, { passive: true });
    const release = (): void => void (this.#holding && this.#hold(false));
    addEventListener("pointerup", release);
    const stop = this.#virtualizer._didMount();
    this.#virtualizer._willUpdate();
    const resize = new ResizeObserver(() => {
      // The scroll bar's width, so that elements above and below line up with the list.
      element.style.setProperty("--bar", `${element.offsetWidth - element.clientWidth}px`);
      this.#settle();
    });
    resize.observe(element);
    this.#changed();
    return () => {
      this.#isOver = true;
      for (const [name, listener] of listeners) element.removeEventListener(name, listener);
      removeEventListener("pointerup", release);
      resize.disconnect();
      stop();
      this.#scroller = null;
    };
  };

  #touch(): void {
    this.#touched = performance.now();
  }
  #hold(holding: boolean): void {
    this.#holding = holding;
    this.#touch();
  }
  #wheeled(event: WheelEvent): void {
    this.#touch();
    if (event.deltaY < 0 && this.#scroller && this.#scroller.scrollTop > 0) this.#leaveEnd();
  }
  #leaveEnd(): void {
    if (!this.following) return;
    this.following = false;
    this.#takeAnchor();
  }

  readonly spacer = (element: HTMLElement): void => {
    this.#spacer = element;
    element.style.setProperty("height", `${this.#virtualizer.getTotalSize()}px`);
  };

  readonly measured = (element: HTMLElement): (() => void) => {
    this.#virtualizer.measureElement(element);
    return () => queueMicrotask(() => this.#virtualizer.measureElement(null));
  };

  #pin(event: Event): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-key]") : null;
    this.#pinned = row?.dataset["key"] ?? null;
  }

  #scrolled(): void {
    const scroller = this.#scroller;
    if (!scroller) return;
    const byPerson = this.#holding || performance.now() - this.#touched < 1200;
    // Reading the scroll position costs a layout: skip it while following.
    if (this.#moved && this.following && !byPerson) {
      this.#moved = false;
      return this.onNearEnd();
    }
    this.#moved = false;
    const top = scroller.scrollTop;
    const left = scroller.scrollHeight - scroller.clientHeight - top;
    if (byPerson && left <= nearEnd && top >= this.#lastTop) this.following = true;
    else if (byPerson && left > nearEnd && top < this.#lastTop - 1) this.following = false;
    this.#lastTop = top;
    if (!this.following) this.#takeAnchor();
    if (top < nearTop) this.onNearTop();
    if (left < nearTop) this.onNearEnd();
  }

  // --- navigation

  toEnd(): void {
    this.following = true;
    this.#settle();
  }

  toIndex(index: number, align: "start" | "center" | "auto" = "auto"): void {
    const scroller = this.#scroller;
    if (!scroller || index < 0) return;
    this.following = index >= this.#keys.length - 1 && align === "auto";
    if (this.following) return this.#settle();
    this.#virtualizer.getTotalSize();
    const item = this.#virtualizer.measurementsCache[index];
    if (!item) return;
    const room = scroller.clientHeight;
    const visible = item.start >= scroller.scrollTop && item.end <= scroller.scrollTop + room;
    if (align === "auto" && visible) return;
    const below = align === "center" ? Math.max(24, (room - item.size) / 3) : 24;
    this.#anchors = [{ key: String(item.key), offset: -below }];
    this.#settle();
  }

  /** May need more at once: at the top of the list no scroll event follows. */
  askAgain(): void {
    if (!this.following && this.#scroller && this.#scroller.scrollTop < nearTop) this.onNearTop();
  }

  // Whether the screen is at the end.
  get atEnd(): boolean {
    const scroller = this.#scroller;
    return !scroller || scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= nearEnd;
  }
}

// Svelte attachment: the position of a row.
export function placed(start: number): (element: HTMLElement) => void {
  return (element) => element.style.setProperty("transform", `translateY(${Math.round(start)}px)`);
}
