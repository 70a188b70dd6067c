// The browser as the connection sees it: clock, randomness, sockets, visibility.
import type { ConnectionWorld, SocketLike } from "../core/connection";

export function browserWorld(open: () => Promise<WebSocket>): ConnectionWorld {
  return {
    now: () => Date.now(),
    after: (ms, call) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    random: () => Math.random(),
    isVisible: () => document.visibilityState === "visible",
    open: async () => (await open()) as SocketLike,
    isUp: async () => {
      try {
        return (await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(1_000) })).ok;
      } catch {
        return false;
      }
    },
  };
}

/**
 * Calls whenever the page may have slept or the network may have changed (N4). Returns a function
 * that stops it.
 */
export function onWake(wake: () => void): () => void {
  const seen = (): void => {
    if (document.visibilityState === "visible") wake();
  };
  const names = ["pageshow", "online", "focus"] as const;
  document.addEventListener("visibilitychange", seen);
  for (const name of names) addEventListener(name, wake);
  return () => {
    document.removeEventListener("visibilitychange", seen);
    for (const name of names) removeEventListener(name, wake);
  };
}

/** Calls when the page is left but may be restored. Returns a function that stops it. */
export function onPutAway(rest: () => void): () => void {
  addEventListener("pagehide", rest);
  return () => removeEventListener("pagehide", rest);
}
