// The effects of deleting one or many sessions. Rule: a word must be typed only if running work or
// uncommitted files would be lost; otherwise a click is enough.

import type { DeletePreview } from "./types";

/** The git state of the folder that remains; null if it was not requested or could not be read. */
export interface LeftBehind {
  branch: string;
  uncommitted: string[];
}

export interface Deletion {
  preview: DeletePreview;
  left: LeftBehind | null;
}

export interface DeletionSum {
  sessions: number;
  records: number;
  bytes: number;
  running: number;
  alive: number;
  worktrees: number;
  uncommitted: number;
}

export function sumDeletions(all: readonly Deletion[]): DeletionSum {
  const out: DeletionSum = { sessions: all.length, records: 0, bytes: 0, running: 0, alive: 0, worktrees: 0, uncommitted: 0 };
  for (const { preview, left } of all) {
    out.records += preview.records;
    out.bytes += preview.bytes + preview.blob_bytes;
    out.running += Number(preview.open_run);
    out.alive += Number(preview.needs_force);
    out.worktrees += Number(preview.worktree_path !== null);
    out.uncommitted += left?.uncommitted.length ?? 0;
  }
  return out;
}

/**
 * The word to type, or nothing. The daemon keeps folders, so uncommitted files are lost only if it
 * reports that.
 */
export function wordToType(all: readonly Deletion[], losesFiles: boolean): string {
  const sum = sumDeletions(all);
  const risky = sum.running > 0 || (losesFiles && sum.uncommitted > 0);
  if (!risky) return "";
  return all.length === 1 ? firstWords(all[0]?.preview.title ?? "") : `delete ${all.length}`;
}

/** The first two words of the title, which are easy to type; never empty. */
export function firstWords(title: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, 2).join(" ") || "delete";
}

export function isTyped(typed: string, word: string): boolean {
  return word === "" || typed.trim().toLowerCase().replace(/\s+/g, " ") === word;
}
