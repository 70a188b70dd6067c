// Client of the highlighter's worker, which starts with the first request. Results are cached so
// that a row that scrolls back into view has its colours at once. Without a worker, code stays
// plain.
import type { RunLine } from "./runs";
import { workerUrl } from "./policy";
import script from "./highlight.worker.ts?worker&url";

const longest = 200_000; // characters; longer code is not highlighted
const keep = 200;

let worker: Worker | null | undefined;
let next = 1;
const waiting = new Map<number, (lines: readonly RunLine[] | null) => void>();
const known = new Map<string, Promise<readonly RunLine[] | null>>();

function start(): Worker | null {
  try {
    const made = new Worker(workerUrl(script), { type: "module" });
    made.onmessage = (event: MessageEvent<{ id: number; lines: readonly RunLine[] | null }>) => {
      waiting.get(event.data.id)?.(event.data.lines);
      waiting.delete(event.data.id);
    };
    made.onerror = () => {
      for (const answer of waiting.values()) answer(null);
      waiting.clear();
      worker = null;
    };
    return made;
  } catch {
    return null;
  }
}

function ask(code: string, language: string): Promise<readonly RunLine[] | null> {
  if (worker === undefined) worker = start();
  const running = worker;
  if (!running) return Promise.resolve(null);
  const id = next++;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    running.postMessage({ id, code, language });
  });
}

export function highlight(code: string, language: string | null): Promise<readonly RunLine[] | null> {
  if (!language || code.length > longest || code === "") return Promise.resolve(null);
  const name = `${language}\n${code}`;
  const old = known.get(name);
  if (old) return old;
  const answer = ask(code, language);
  known.set(name, answer);
  if (known.size > keep) known.delete(known.keys().next().value ?? "");
  return answer;
}

// Svelte attachment: calls `seen` once, when the element comes near the screen.
export function whenSeen(seen: () => void): (element: Element) => () => void {
  return (element) => {
    if (typeof IntersectionObserver === "undefined") {
      seen();
      return () => {};
    }
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        seen();
      },
      { rootMargin: "300px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  };
}
