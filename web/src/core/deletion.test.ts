import { describe, expect, it } from "vitest";
import { firstWords, isTyped, sumDeletions, wordToType, type Deletion } from "./deletion";
import type { DeletePreview } from "./types";

function deletion(change: Partial<DeletePreview>, uncommitted: string[] = []): Deletion {
  const preview: DeletePreview = {
    session_id: "s", title: "Dry run on staging", records: 10, bytes: 100, blobs: 1, blob_bytes: 50,
    workspace: null, worktree_path: "/w", open_run: false, needs_force: false, ...change,
  };
  return { preview, left: { branch: "b", uncommitted } };
}

describe("deletion", () => {
  it("adds up", () => {
    const sum = sumDeletions([deletion({}, ["a"]), deletion({ open_run: true, needs_force: true, worktree_path: null })]);
    expect(sum).toEqual({ sessions: 2, records: 20, bytes: 300, running: 1, alive: 1, worktrees: 1, uncommitted: 1 });
  });

  it("asks for a word only where something under way is lost", () => {
    expect(wordToType([deletion({}, ["a"])], false)).toBe("");
    expect(wordToType([deletion({}, ["a"])], true)).toBe("dry run");
    expect(wordToType([deletion({ open_run: true })], false)).toBe("dry run");
    expect(wordToType([deletion({ open_run: true }), deletion({})], false)).toBe("delete 2");
  });

  it("takes the word with any spacing and case", () => {
    expect(isTyped("  Dry   RUN ", "dry run")).toBe(true);
    expect(isTyped("dry ru", "dry run")).toBe(false);
    expect(isTyped("", "")).toBe(true);
    expect(firstWords("🙂")).toBe("delete");
  });
});
