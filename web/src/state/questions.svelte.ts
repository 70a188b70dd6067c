// What open questions ask, whole, as the daemon shows them. Read once per question; a question never changes.
import { SvelteMap } from "svelte/reactivity";
import { ApiError } from "../core/api";
import { questionOf, type Question } from "../core/question";
import { app } from "./app.svelte";

const keptMax = 200;

class Questions {
  private readonly known = new SvelteMap<string, Question | "none">();
  private readonly asked = new Map<string, Promise<void>>();

  /** Undefined: not loaded yet. "none": it cannot be loaded. */
  of(permission: string): Question | "none" | undefined {
    return this.known.get(permission);
  }

  ask(permission: string): Promise<void> {
    if (this.known.has(permission)) return Promise.resolve();
    const running = this.asked.get(permission);
    if (running) return running;
    const asked = this.read(permission).finally(() => this.asked.delete(permission));
    this.asked.set(permission, asked);
    return asked;
  }

  private async read(permission: string): Promise<void> {
    try {
      this.keep(permission, questionOf(await app.api.question(permission)));
    } catch (error) {
      // Anything else is asked again when it is shown again.
      if (error instanceof ApiError && error.status === 404) this.keep(permission, "none");
    }
  }

  private keep(permission: string, question: Question | "none"): void {
    if (this.known.size >= keptMax) this.known.clear();
    this.known.set(permission, question);
  }
}

export const questions = new Questions();
