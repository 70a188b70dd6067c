// Which lines of a long list are near the screen, if all have the same height: only those exist.
// The line height comes from the style sheet's --line-height, so that touch and narrow screens can
// differ.
const around = 12;

export class LineWindow {
  /** Height of one line. */
  height = $state(26);
  /** Scrolled to the end, and following it. */
  atEnd = $state(true);
  #top = $state(0);
  #room = $state(600);
  #count = $state(0);
  #list: HTMLElement | null = null;
  #moving = false;

  readonly first = $derived(Math.max(0, Math.floor(this.#top / this.height) - around));
  readonly end = $derived(Math.min(this.#count, Math.ceil((this.#top + this.#room) / this.height) + around));

  /** Svelte attachment of the scrolling element. */
  readonly list = (element: HTMLElement): (() => void) => {
    this.#list = element;
    const measure = (): void => {
      this.height = Number.parseFloat(getComputedStyle(element).getPropertyValue("--line-height")) || 26;
      this.#room = element.clientHeight;
      this.#place();
    };
    const resize = new ResizeObserver(measure);
    resize.observe(element);
    measure();
    return () => {
      resize.disconnect();
      this.#list = null;
    };
  };
  /** Svelte attachment of the element that is as high as all lines together. */
  readonly spacer = (element: HTMLElement): void => {
    $effect(() => {
      element.style.setProperty("height", `${this.#count * this.height}px`);
      this.#place();
    });
  };
  /** Svelte attachment of the lines that exist. */
  readonly lines = (element: HTMLElement): void => {
    $effect(() => element.style.setProperty("transform", `translateY(${this.first * this.height}px)`));
  };

  /** Sets the number of lines, and how many of the new ones were added at the front. */
  set(count: number, before: number): void {
    this.#count = count;
    if (!this.atEnd && before > 0 && this.#list) this.#scrollTo(this.#top + before * this.height);
  }

  scrolled(): void {
    if (!this.#list) return;
    this.#top = this.#list.scrollTop;
    if (this.#moving) return void (this.#moving = false);
    this.atEnd = this.#list.scrollHeight - this.#top - this.#list.clientHeight < 24;
  }
  get isNearTop(): boolean {
    return this.#top < 400;
  }

  toEnd(): void {
    this.atEnd = true;
    this.#place();
  }
  /** Scrolls to a line unless it is visible. */
  show(index: number, centre = false): void {
    const top = index * this.height;
    const isSeen = top >= this.#top && top + this.height <= this.#top + this.#room;
    if (isSeen && !centre) return;
    this.atEnd = false;
    this.#scrollTo(centre ? top - this.#room / 2 : top < this.#top ? top : top + this.height - this.#room);
  }

  #place(): void {
    if (this.atEnd && this.#list) this.#scrollTo(this.#count * this.height);
  }
  #scrollTo(top: number): void {
    const list = this.#list;
    if (!list) return;
    // The element needs its new height before it can be scrolled that far.
    list.firstElementChild instanceof HTMLElement && list.firstElementChild.style.setProperty("height", `${this.#count * this.height}px`);
    const before = list.scrollTop;
    list.scrollTop = Math.max(0, top);
    this.#moving = list.scrollTop !== before;
    this.#top = list.scrollTop;
  }
}
