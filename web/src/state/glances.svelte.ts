// Summaries of listed sessions: the agent's current activity, its last words. Read once per change,
// at most every two seconds, and only for visible sessions.
import { SvelteMap } from "svelte/reactivity";
import { isMessage } from "../core/rows";
import { cut, firstLine } from "../core/text";
import type { Brief, Row, Session } from "../core/types";
import { app } from "./app.svelte";

export interface Glance {
  updated: string;
  /** When the turn began; empty: none runs. */
  started: string;
  text: string;
  records: number;
}

const pause = 2000;

function lineOf(rows: Row[], session: Session): string {
  if (session.error_message) return session.error_message;
  const last = rows.filter(isMessage).findLast((row) => row.role === "tool_call" || row.content !== "" || row.thinking !== "");
  if (!last) return "";
  if (last.role === "tool_call" || last.role === "tool_result") return plainLine(last.title);
  return plainLine(last.content || last.thinking);
}

const plainLine = (text: string): string => cut(firstLine(text).replace(/^[#>\s]+|[`*]+|\b_|_\b/g, "").trim(), 160);

class Glances {
  private readonly known = new SvelteMap<string, Glance>();
  private readonly asked = new Map<string, number>();

  of(id: string): Glance | undefined {
    return this.known.get(id);
  }

  /** Reads a summary, unless it is current. */
  look(brief: Brief): () => void {
    if (this.known.get(brief.id)?.updated === brief.updated) return () => {};
    const wait = Math.max(0, (this.asked.get(brief.id) ?? 0) + pause - Date.now());
    const timer = setTimeout(() => void this.read(brief.id), wait);
    return () => clearTimeout(timer);
  }

  private async read(id: string): Promise<void> {
    this.asked.set(id, Date.now());
    try {
      const { session, rows } = await app.api.page(id, 4);
      this.known.set(id, {
        updated: session.updated, started: session.run?.started ?? "", text: lineOf(rows.rows, session), records: session.seq,
      });
    } catch {
      // Ignored: it is only a summary.
    }
  }
}

export const glances = new Glances();
