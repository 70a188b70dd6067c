// Escape stops the agent only if pressed twice within one second; a click on Stop acts at once.
const within = 1000;

export class StopTwice {
  armed = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  constructor(readonly stop: () => Promise<void>) {}

  /** A click: stops at once. */
  press(): void {
    this.#disarm();
    void this.stop().catch(() => {});
  }
  /** A key press: the second one stops. */
  key(): void {
    if (this.armed) return this.press();
    this.armed = true;
    this.#timer = setTimeout(() => this.#disarm(), within);
  }
  #disarm(): void {
    clearTimeout(this.#timer);
    this.armed = false;
  }
}
