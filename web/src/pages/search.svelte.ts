// A search over all sessions: queries while the person types, then reads around each hit to find
// its author. Rule: only the newest query may show results; context is read for visible hits, a few
// at a time.
import { groupHits, isFiltered, markWords, matchedWords, noFilter, snippetPieces, type HitFilter, type HitGroup, type Piece } from "../core/search_hits";
import type { Brief, MessageRow, SearchHit } from "../core/types";
import { app } from "../state/app.svelte";

export type HitKind = "you" | "agent" | "thought" | "tool" | "other";
export const hitKinds: readonly { id: HitKind; name: string }[] = [
  { id: "you", name: "Your messages" },
  { id: "agent", name: "The agent's answers" },
  { id: "thought", name: "Its thoughts" },
  { id: "tool", name: "Tools" },
];

/** The author of a hit, and the text around it. */
export interface HitContext {
  kind: HitKind;
  who: string;
  pieces: Piece[];
  isCode: boolean;
}

const shownFirst = 3;
const parallel = 3;

export class Search {
  hits: SearchHit[] = $state.raw([]);
  state: "idle" | "searching" | "done" | "failed" = $state("idle");
  error = $state("");
  ms = $state(0);
  filter: HitFilter = $state({ ...noFilter });
  kind: HitKind | "" = $state("");
  open: ReadonlySet<string> = $state.raw(new Set());
  context: ReadonlyMap<string, HitContext> = $state.raw(new Map());
  #all: ReadonlyMap<string, Brief> = $state.raw(new Map());
  #asked: AbortController | null = null;

  readonly groups: HitGroup<Brief>[] = $derived(groupHits(this.#ofKind(), this.#all, this.filter, Date.now()));
  readonly total = $derived(this.groups.reduce((sum, group) => sum + group.hits.length, 0));

  get isNarrowed(): boolean {
    return isFiltered(this.filter) || this.kind !== "";
  }
  get sessions(): Brief[] {
    return [...this.#all.values()];
  }

  async run(query: string): Promise<void> {
    this.#asked?.abort();
    const asked = (this.#asked = new AbortController());
    if (query.trim() === "") {
      this.hits = [];
      this.state = "idle";
      return;
    }
    this.state = "searching";
    const from = performance.now();
    try {
      const [{ hits }, { sessions }] = await Promise.all([app.api.search(query, 200, asked.signal), app.api.sessions({ archived: "all", limit: 200 })]);
      if (asked !== this.#asked) return;
      this.ms = Math.round(performance.now() - from);
      this.#all = new Map(sessions.map((session) => [session.id, session]));
      this.hits = hits;
      this.context = new Map();
      this.state = "done";
      await this.#readAround(asked);
    } catch (error) {
      if (asked !== this.#asked || asked.signal.aborted) return;
      this.state = "failed";
      this.error = error instanceof Error ? error.message : String(error);
    }
  }

  drop(): void {
    this.filter = { ...noFilter };
    this.kind = "";
  }

  shown(group: HitGroup<Brief>): SearchHit[] {
    return this.open.has(group.id) ? group.hits : group.hits.slice(0, shownFirst);
  }
  async showAll(id: string): Promise<void> {
    this.open = new Set([...this.open, id]);
    if (this.#asked) await this.#readAround(this.#asked);
  }

  /** The daemon's own snippet until the context has been read. */
  pieces(hit: SearchHit): Piece[] {
    return this.context.get(keyOf(hit))?.pieces ?? snippetPieces(hit.snippet);
  }
  who(hit: SearchHit): string {
    return this.context.get(keyOf(hit))?.who ?? "";
  }
  isCode(hit: SearchHit): boolean {
    return this.context.get(keyOf(hit))?.isCode ?? false;
  }

  #ofKind(): SearchHit[] {
    if (this.kind === "") return this.hits;
    return this.hits.filter((hit) => this.context.get(keyOf(hit))?.kind === this.kind);
  }

  async #readAround(asked: AbortController): Promise<void> {
    const seen = new Map<string, number>();
    const wanted = this.hits.filter((hit) => {
      const before = seen.get(hit.session_id) ?? 0;
      seen.set(hit.session_id, before + 1);
      return !this.context.has(keyOf(hit)) && (before < shownFirst * 4 || this.open.has(hit.session_id));
    });
    for (let at = 0; at < wanted.length && asked === this.#asked; at += parallel) {
      const some = wanted.slice(at, at + parallel);
      const found = await Promise.all(some.map((hit) => around(hit).catch(() => null)));
      const next = new Map(this.context);
      some.forEach((hit, index) => {
        const context = found[index];
        if (context) next.set(keyOf(hit), context);
      });
      if (asked === this.#asked) this.context = next;
    }
  }
}

function keyOf(hit: SearchHit): string {
  return `${hit.session_id}/${hit.seq}`;
}

async function around(hit: SearchHit): Promise<HitContext | null> {
  const page = await app.api.rows(hit.session_id, { around: hit.seq, limit: 4 });
  const rows = page.rows.filter((row): row is MessageRow => row.role !== "mark");
  const row = rows.filter((one) => one.seq <= hit.seq).at(-1);
  if (!row || row.rev < hit.seq) return null;
  return contextOf(row, matchedWords(hit.snippet));
}

function contextOf(row: MessageRow, words: string[]): HitContext {
  const has = (text: string): boolean => words.some((word) => text.toLowerCase().includes(word.toLowerCase()));
  if (row.role === "user") return { kind: "you", who: "You", pieces: markWords(row.content, words), isCode: false };
  if (row.role === "assistant" && !has(row.content) && has(row.thinking)) {
    return { kind: "thought", who: "Thought", pieces: markWords(row.thinking, words), isCode: false };
  }
  if (row.role === "assistant") return { kind: "agent", who: "Agent", pieces: markWords(row.content, words), isCode: false };
  const text = has(row.content) ? row.content : `${row.title} ${row.content}`;
  return { kind: "tool", who: row.role === "tool_result" ? "Output" : "Tool", pieces: markWords(text, words), isCode: true };
}
