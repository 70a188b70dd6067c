// What time it is now, for texts like "4 min ago": one timer for all of them, none while nobody reads it.
import { createSubscriber } from "svelte/reactivity";

class Ticker {
  private readonly subscribe: () => void;
  constructor(every: number) {
    this.subscribe = createSubscriber((update) => {
      const timer = setInterval(update, every);
      return () => clearInterval(timer);
    });
  }
  get now(): number {
    this.subscribe();
    return Date.now();
  }
}

/** Moves every second: durations that run. */
export const seconds = new Ticker(1000);
/** Moves every ten seconds: ages. */
export const moments = new Ticker(10_000);
