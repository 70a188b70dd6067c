// Escape stops the agent when it is pressed twice within a second; a click on Stop is meant.
const within = 1000;

export class StopTwice {
  armed = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  constructor(readonly stop: () => Promise<void>) {}

  /** A button: at once. */
  press(): void {
    this.#disarm();
    void this.stop().catch(() => {});
  }
  /** A key: the second one counts. */
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
