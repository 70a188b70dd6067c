import { describe, expect, it } from "vitest";
import { groupHits, markWords, matchedWords, noFilter, snippetPieces, type HitSession } from "./search_hits";
import type { SearchHit } from "./types";

const hits: SearchHit[] = [
  { session_id: "a", seq: 9, title: "A", snippet: "\u0002cur\u0003" },
  { session_id: "b", seq: 3, title: "B", snippet: "\u0002cur\u0003" },
  { session_id: "a", seq: 4, title: "A", snippet: "\u0002cur\u0003" },
];
const now = Date.parse("2026-06-30T00:00:00Z");
const sessions = new Map<string, HitSession>([
  ["a", { id: "a", title: "Alpha", agent: "demo", task_id: "t", updated: "2026-06-29T00:00:00Z" }],
  ["b", { id: "b", title: "Beta", agent: "other", task_id: null, updated: "2026-01-01T00:00:00Z" }],
]);

describe("snippets", () => {
  it("marks what the daemon marked, and takes the rest as text", () => {
    expect(snippetPieces("a <b> \u0002cur\u0003sor")).toEqual([
      { text: "a <b> ", match: false },
      { text: "cur", match: true },
      { text: "sor", match: false },
    ]);
    expect(matchedWords("\u0002x\u0003 \u0002x\u0003 \u0002y\u0003")).toEqual(["x", "y"]);
  });

  it("marks words in a longer text, whatever characters they have", () => {
    expect(markWords("call f(x)  now", ["F(X)"]).map((piece) => piece.match)).toEqual([false, true, false]);
    const long = `${"word ".repeat(100)}needle ${"tail ".repeat(100)}`;
    const pieces = markWords(long, ["needle"]);
    expect(pieces.some((piece) => piece.match)).toBe(true);
    expect(pieces[0]?.text.startsWith("…")).toBe(true);
  });
});

describe("groupHits", () => {
  it("groups by session, hits in the journal's order", () => {
    const groups = groupHits(hits, sessions, noFilter, now);
    expect(groups.map((group) => [group.title, group.hits.map((hit) => hit.seq)])).toEqual([
      ["Alpha", [4, 9]],
      ["Beta", [3]],
    ]);
  });

  it("filters by agent, task and time", () => {
    expect(groupHits(hits, sessions, { agent: "other", task: "", days: 0 }, now)).toHaveLength(1);
    expect(groupHits(hits, sessions, { agent: "", task: "t", days: 0 }, now)[0]?.id).toBe("a");
    expect(groupHits(hits, sessions, { agent: "", task: "", days: 7 }, now)).toHaveLength(1);
  });
});
