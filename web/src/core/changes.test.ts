import { describe, expect, it } from "vitest";
import {
  baseBranch, forkPoint, lineComment, listChanges, neighbour, patchOfNewFile, splitPatch,
} from "./changes";
import type { GitDiff, GitStatus, GitWorktrees } from "./workspace_types";

const modified = "diff --git a/a.ts b/a.ts\nindex 1..2 100644\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-x\n+y\n";
const added = "diff --git a/b.ts b/b.ts\nnew file mode 100644\n--- /dev/null\n+++ b/b.ts\n@@ -0,0 +1 @@\n+diff --git is not a head here\n";
const moved = "diff --git a/old b/new\nsimilarity index 90%\nrename from old\nrename to new\n";

function status(files: GitStatus["files"]): GitStatus {
  return { branch: { name: "x", oid: "1", detached: false, upstream: "", ahead: null, behind: null }, files, cut: false };
}

function commit(oid: string): { oid: string } {
  return { oid };
}

function tree(path: string, branch: string): GitWorktrees["worktrees"][number] {
  return { absolute_path: path, oid: "1", branch, bare: false, locked: false, gone: false };
}

describe("splitPatch", () => {
  it("cuts at heads only", () => {
    expect(splitPatch(modified + added)).toEqual([modified, added]);
    expect(splitPatch("")).toEqual([]);
  });
});

describe("listChanges", () => {
  const diff: GitDiff = {
    files: [
      { path: "a.ts", binary: false, added: 1, removed: 1 },
      { path: "b.ts", binary: false, added: 1, removed: 0 },
      { path: "new", binary: true, added: null, removed: null },
    ],
    text: modified + added + moved,
    cut: false,
  };

  it("joins diff and status, each file once", () => {
    const list = listChanges(
      status([
        { path: "a.ts", staged: "none", unstaged: "modified" },
        { path: "notes/", staged: "none", unstaged: "untracked" },
      ]),
      diff,
    );
    expect(list.files.map((file) => [file.path, file.mark, file.uncommitted])).toEqual([
      ["a.ts", "M", true],
      ["b.ts", "A", false],
      ["new", "R", false],
      ["notes/", "?", true],
    ]);
    expect([list.added, list.removed, list.uncommitted]).toEqual([2, 1, 2]);
    expect(list.files[2]?.from).toBe("old");
  });

  it("shows a conflict before anything else", () => {
    const list = listChanges(
      status([{ path: "a.ts", staged: "conflicted", unstaged: "conflicted", conflict: "both_modified" }]),
      diff,
    );
    expect(list.files[0]?.mark).toBe("U");
  });
});

describe("base", () => {
  it("is the main folder's branch for a worktree, nothing for the main folder", () => {
    const trees = [tree("/repo", "main"), tree("/trees/a", "fix")];
    expect(baseBranch(trees, "/trees/a")).toBe("main");
    expect(baseBranch(trees, "/repo")).toBeNull();
    expect(baseBranch([], "/repo")).toBeNull();
  });

  it("is the newest commit of both", () => {
    expect(forkPoint([commit("c"), commit("b"), commit("a")], [commit("z"), commit("b"), commit("a")])).toBe("b");
    expect(forkPoint([commit("c")], [commit("z")])).toBeNull();
  });
});

describe("small things", () => {
  it("writes a new file as a patch", () => {
    expect(patchOfNewFile("n", "a\nb\n")).toContain("@@ -0,0 +1,2 @@\n+a\n+b\n");
    expect(patchOfNewFile("n", "a")).toContain("+a\n\\ No newline");
  });

  it("goes round the files", () => {
    const files = [{ path: "a" }, { path: "b" }];
    expect(neighbour(files, "b", 1)).toBe("a");
    expect(neighbour(files, "a", -1)).toBe("b");
    expect(neighbour(files, null, 1)).toBe("a");
    expect(neighbour([], "a", 1)).toBeNull();
  });

  it("quotes the line of a comment", () => {
    expect(lineComment("a.ts", 4, "  let x;", "why?")).toBe("a.ts:4\n> let x;\nwhy?\n");
  });
});
