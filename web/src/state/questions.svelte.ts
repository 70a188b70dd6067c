// The full content of open questions: the record of each, the records of its tool call if the
// question omits them, and blobs of the journal. Read once per question; a question never changes.
import { SvelteMap } from "svelte/reactivity";
import { questionOf, saysItself, type Question } from "../core/question";
import type { RecordEnvelope } from "../core/types";
import { app } from "./app.svelte";

const keptMax = 200;
const pagesMax = 5;

const updateOf = (record: RecordEnvelope): { blob?: unknown } => (record["update"] ?? {}) as { blob?: unknown };

class Questions {
  private readonly known = new SvelteMap<string, Question | "none">();
  private readonly asked = new Map<string, Promise<void>>();

  /** Undefined: not loaded yet. "none": it cannot be loaded. */
  of(permission: string): Question | "none" | undefined {
    return this.known.get(permission);
  }

  ask(session: string, permission: string, record?: RecordEnvelope | null): Promise<void> {
    if (this.known.has(permission)) return Promise.resolve();
    const running = this.asked.get(permission);
    if (running) return running;
    const asked = this.read(session, permission, record ?? null).finally(() => this.asked.delete(permission));
    this.asked.set(permission, asked);
    return asked;
  }

  private async read(session: string, permission: string, given: RecordEnvelope | null): Promise<void> {
    try {
      const record = given ?? (await this.recordOf(session, permission));
      const found = record ? questionOf(await this.whole(session, record), await this.callBefore(session, record)) : "none";
      if (this.known.size >= keptMax) this.known.clear();
      this.known.set(permission, found);
    } catch {
      // Retried when it is shown again.
    }
  }

  private async recordOf(session: string, permission: string): Promise<RecordEnvelope | null> {
    const { events } = await app.api.events(session, { kind: "permission.requested", last: 100 });
    return events.find((one) => one["perm_id"] === permission) ?? null;
  }

  // The records of the question's tool call before it, oldest first; empty if the question needs
  // none.
  private async callBefore(session: string, record: RecordEnvelope): Promise<RecordEnvelope[]> {
    const id = record["tool_call_id"];
    if (typeof id !== "string" || id === "" || (typeof updateOf(record).blob !== "string" && saysItself(record))) return [];
    const found: RecordEnvelope[] = [];
    let before = record.seq;
    for (let page = 0; page < pagesMax; page += 1) {
      const { events } = await app.api.events(session, { kind: "tool", before, limit: 200 });
      found.unshift(...events.filter((one) => one["tool_call_id"] === id));
      if (found[0]?.kind === "tool.call" || events.length === 0) break;
      before = events[0]?.seq ?? 0;
    }
    return Promise.all(found.map((one) => this.whole(session, one)));
  }

  private async whole(session: string, record: RecordEnvelope): Promise<RecordEnvelope> {
    const { blob } = updateOf(record);
    return typeof blob === "string" ? { ...record, update: await app.api.blob(session, blob) } : record;
  }
}

export const questions = new Questions();
