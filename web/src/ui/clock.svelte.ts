// The current time for texts like "4 min ago": one shared timer, which stops without readers.
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

/** Ticks every second: running durations. */
export const seconds = new Ticker(1000);
/** Ticks every ten seconds: ages. */
export const moments = new Ticker(10_000);
