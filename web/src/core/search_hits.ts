// Hits of the search over all sessions, prepared for display: grouped by session, with matches
// marked, filtered. Rule: the daemon marks a match with U+0002 and U+0003; no other part of a
// snippet is treated as markup.

import type { SearchHit } from "./types";

export interface Piece {
  text: string;
  match: boolean;
}

/** The session data that hits are filtered by. */
export interface HitSession {
  id: string;
  title: string;
  agent: string;
  task_id: string | null;
  updated: string;
}

export interface HitGroup<S extends HitSession> {
  session: S | null;
  id: string;
  title: string;
  hits: SearchHit[];
}

export interface HitFilter {
  agent: string;
  task: string;
  /** Days back; 0: any time. */
  days: number;
}

export const noFilter: HitFilter = { agent: "", task: "", days: 0 };

export function isFiltered(filter: HitFilter): boolean {
  return filter.agent !== "" || filter.task !== "" || filter.days > 0;
}

export function snippetPieces(snippet: string): Piece[] {
  const out: Piece[] = [];
  let match = false;
  for (const part of snippet.split(/([\u0002\u0003])/)) {
    if (part === "\u0002") match = true;
    else if (part === "\u0003") match = false;
    else if (part !== "") out.push({ text: part, match });
  }
  return out;
}

/** The distinct marked words, used to mark a longer text around the hit. */
export function matchedWords(snippet: string): string[] {
  const found = snippetPieces(snippet).filter((piece) => piece.match).map((piece) => piece.text);
  return [...new Set(found)];
}

/** A line around the first match, with all matches marked. */
export function markWords(text: string, words: readonly string[], width = 160): Piece[] {
  const flat = text.replace(/\s+/g, " ").trim();
  const wanted = words.filter((word) => word !== "").map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (wanted.length === 0) return [{ text: flat.slice(0, width), match: false }];
  const pattern = new RegExp(`(${wanted.join("|")})`, "gi");
  const first = flat.search(pattern);
  const from = first > width / 2 ? flat.lastIndexOf(" ", first - width / 3) + 1 : 0;
  const line = `${from > 0 ? "…" : ""}${flat.slice(from, from + width)}${from + width < flat.length ? "…" : ""}`;
  return line.split(pattern).map((part, index) => ({ text: part, match: index % 2 === 1 })).filter((piece) => piece.text !== "");
}

function passes(session: HitSession | undefined, filter: HitFilter, now: number): boolean {
  if (!session) return !isFiltered(filter);
  if (filter.agent !== "" && session.agent !== filter.agent) return false;
  if (filter.task !== "" && session.task_id !== filter.task) return false;
  return filter.days === 0 || now - Date.parse(session.updated) <= filter.days * 86_400_000;
}

/** Sessions in the order of their best hit; hits of one session in journal order. */
export function groupHits<S extends HitSession>(
  hits: readonly SearchHit[],
  sessions: ReadonlyMap<string, S>,
  filter: HitFilter,
  now: number,
): HitGroup<S>[] {
  const groups = new Map<string, HitGroup<S>>();
  for (const hit of hits) {
    const session = sessions.get(hit.session_id);
    if (!passes(session, filter, now)) continue;
    const group = groups.get(hit.session_id);
    if (group) group.hits.push(hit);
    else groups.set(hit.session_id, { session: session ?? null, id: hit.session_id, title: session?.title ?? hit.title, hits: [hit] });
  }
  for (const group of groups.values()) group.hits.sort((a, b) => a.seq - b.seq);
  return [...groups.values()];
}
