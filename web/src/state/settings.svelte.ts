// This browser's settings, kept in its storage. Reading never fails: a private window may have no
// storage.
import type { ResumeWish } from "../core/resume_on_open";

export type Theme = "light" | "dark" | "system";

interface Kept {
  theme: Theme;
  /** Single letters as shortcuts (WCAG 2.1.4). */
  letters: boolean;
  /** Command name to its keys, if they differ from the default. */
  keys: Record<string, string>;
  notify: boolean;
  sideWidth: number;
  inspectorWidth: number;
  inspectorOpen: boolean;
  diffStyle: "unified" | "split";
  wrapCode: boolean;
  screenReaderTerminal: boolean;
  collapsedTasks: string[];
  /** Whether opening a session's page resumes its agent, once (K6, K7). */
  resumeOnOpen: ResumeWish;
}

const usual: Kept = {
  theme: "system", letters: true, keys: {}, notify: false, sideWidth: 264, inspectorWidth: 468, inspectorOpen: true,
  diffStyle: "unified", wrapCode: false, screenReaderTerminal: false, collapsedTasks: [],
  resumeOnOpen: "daemon",
};
const place = "perdure.settings";

export function readStored<T>(name: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") as T | null;
  } catch {
    return null;
  }
}

export function writeStored(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage full or blocked: the setting applies to this page only.
  }
}

export class Settings {
  private kept: Kept = $state({ ...usual, ...readStored<Partial<Kept>>(place) });

  get theme(): Theme { return this.kept.theme; }
  set theme(theme: Theme) { this.set("theme", theme); }
  get letters(): boolean { return this.kept.letters; }
  get<K extends keyof Kept>(name: K): Kept[K] { return this.kept[name]; }
  set<K extends keyof Kept>(name: K, value: Kept[K]): void {
    this.kept[name] = value;
    writeStored(place, $state.snapshot(this.kept));
  }
}
