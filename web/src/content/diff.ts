// A diff as numbered lines, from a unified patch or from two texts. Paired removed and added lines
// carry the ranges of the words that differ. Bounded: lines beyond `mostLines` are counted, not
// shown.
import { diffWordsWithSpace, parsePatch, structuredPatch, type StructuredPatch } from "diff";

export interface DiffLine {
  readonly kind: "same" | "add" | "del";
  readonly text: string;
  readonly old: number | null;
  readonly now: number | null;
  readonly words: readonly (readonly [number, number])[];
}
export interface Hunk {
  readonly header: string; // "@@ -1,2 +1,3 @@"
  readonly lines: readonly DiffLine[];
}
export interface FileDiff {
  readonly path: string;
  readonly oldPath: string; // differs from the path if renamed
  readonly isNew: boolean;
  readonly isGone: boolean;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
  readonly leftOut: number; // lines left out of `hunks`
}
// One row of the split view: old line, new line.
export interface SplitRow {
  readonly left: DiffLine | null;
  readonly right: DiffLine | null;
}

const mostLines = 5000;
const longestLine = 500; // longer lines get no word comparison

type Draft = { kind: DiffLine["kind"]; text: string; old: number | null; now: number | null; words: [number, number][] };

function wordRanges(before: string, after: string): { del: [number, number][]; add: [number, number][] } | null {
  if (before.length > longestLine || after.length > longestLine) return null;
  const del: [number, number][] = [];
  const add: [number, number][] = [];
  let left = 0;
  let right = 0;
  let same = 0;
  for (const part of diffWordsWithSpace(before, after)) {
    const size = part.value.length;
    if (part.removed) del.push([left, left + size]);
    else if (part.added) add.push([right, right + size]);
    else if (part.value.trim()) same += size;
    if (!part.added) left += size;
    if (!part.removed) right += size;
  }
  // If the lines share little, marks would cover nearly everything and help no one.
  return same * 3 >= Math.min(before.trim().length, after.trim().length) ? { del, add } : null;
}

// Within a hunk, a run of removed lines is compared line by line with the run of added lines after
// it.
function markWords(lines: Draft[]): void {
  for (let i = 0; i < lines.length; ) {
    const dels = takeKind(lines, i, "del");
    const adds = takeKind(lines, i + dels.length, "add");
    dels.slice(0, adds.length).forEach((gone, index) => {
      const come = adds[index];
      const ranges = come ? wordRanges(gone.text, come.text) : null;
      if (!ranges || !come) return;
      gone.words = ranges.del;
      come.words = ranges.add;
    });
    i += Math.max(dels.length + adds.length, 1);
  }
}

function takeKind(lines: readonly Draft[], from: number, kind: DiffLine["kind"]): Draft[] {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return lines.slice(from, end);
}

function hunkOf(hunk: StructuredPatch["hunks"][number], room: number): Hunk {
  let old = hunk.oldStart;
  let now = hunk.newStart;
  const lines: Draft[] = [];
  for (const raw of hunk.lines.slice(0, room)) {
    const text = raw.slice(1);
    if (raw[0] === "+") lines.push({ kind: "add", text, old: null, now: now++, words: [] });
    else if (raw[0] === "-") lines.push({ kind: "del", text, old: old++, now: null, words: [] });
    else if (raw[0] !== "\\") lines.push({ kind: "same", text, old: old++, now: now++, words: [] });
  }
  markWords(lines);
  return { header: `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, lines };
}

const cleanPath = (name: string | undefined): string => (name ?? "").replace(/^[ab]\//, "");

function fileOf(patch: StructuredPatch): FileDiff {
  const hunks: Hunk[] = [];
  let room = mostLines;
  let added = 0;
  let removed = 0;
  let total = 0;
  for (const hunk of patch.hunks) {
    for (const line of hunk.lines) {
      if (line[0] === "+") added += 1;
      else if (line[0] === "-") removed += 1;
    }
    total += hunk.lines.length;
    if (room > 0) hunks.push(hunkOf(hunk, room));
    room -= hunk.lines.length;
  }
  const isNew = patch.oldFileName === "/dev/null";
  const isGone = patch.newFileName === "/dev/null";
  const path = cleanPath(isGone ? patch.oldFileName : patch.newFileName);
  const oldPath = isNew ? path : cleanPath(patch.oldFileName);
  return { path, oldPath, isNew, isGone, added, removed, hunks, leftOut: Math.max(0, total - mostLines) };
}

// Parses a unified patch of one or many files. Returns no files if it cannot be parsed.
export function diffOfPatch(patch: string): FileDiff[] {
  try {
    return parsePatch(patch).filter((file) => file.newFileName || file.oldFileName).map(fileOf);
  } catch {
    return [];
  }
}

function wholeFile(path: string, text: string, kind: "add" | "del"): FileDiff {
  const all = text.replace(/\n$/, "").split("\n");
  const lines = all.slice(0, mostLines).map((line, i): DiffLine => ({
    kind, text: line, words: [], old: kind === "del" ? i + 1 : null, now: kind === "add" ? i + 1 : null }));
  const count = text === "" ? 0 : all.length;
  return { path, oldPath: path, isNew: kind === "add", isGone: kind === "del", added: kind === "add" ? count : 0,
    removed: kind === "del" ? count : 0, hunks: count ? [{ header: "", lines }] : [], leftOut: Math.max(0, all.length - mostLines) };
}

// ACP's diff: the text before (null for a new file) and after.
export function diffOfTexts(path: string, before: string | null, after: string): FileDiff {
  if (before === null || before === "") return wholeFile(path, after, "add");
  const patch = structuredPatch(path, path, before, after, "", "", { context: 3, maxEditLength: 1500, timeout: 200 });
  if (patch) return fileOf(patch);
  const gone = wholeFile(path, before, "del");
  const come = wholeFile(path, after, "add");
  return { ...come, isNew: false, removed: gone.removed, hunks: [...gone.hunks, ...come.hunks], leftOut: gone.leftOut + come.leftOut };
}

export function splitRows(hunk: Hunk): SplitRow[] {
  const rows: SplitRow[] = [];
  const drafts = hunk.lines as readonly Draft[];
  for (let i = 0; i < drafts.length; ) {
    const line = hunk.lines[i];
    if (line?.kind === "same") {
      rows.push({ left: line, right: line });
      i += 1;
      continue;
    }
    const dels = takeKind(drafts, i, "del");
    const adds = takeKind(drafts, i + dels.length, "add");
    for (let k = 0; k < Math.max(dels.length, adds.length); k += 1) rows.push({ left: dels[k] ?? null, right: adds[k] ?? null });
    i += Math.max(dels.length + adds.length, 1);
  }
  return rows;
}
