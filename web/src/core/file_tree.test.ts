import { describe, expect, it } from "vitest";
import { FileTree, foldersAbove, parentOf, treeMove } from "./file_tree";
import type { FsEntry } from "./workspace_types";

function entry(name: string, kind: FsEntry["kind"] = "file"): FsEntry {
  return { name, kind, bytes: 1, modified_at: "", mode: 420 };
}

function sample(): FileTree {
  const tree = new FileTree();
  tree.put({ path: "", entries: [entry("b.txt"), entry("src", "folder"), entry("a10"), entry("a2")], more: false });
  tree.put({ path: "src", entries: [entry("x.ts")], more: false });
  return tree;
}

describe("FileTree", () => {
  it("shows folders first and numbers as numbers", () => {
    expect(sample().rows().map((row) => row.path)).toEqual(["src", "a2", "a10", "b.txt"]);
  });

  it("shows what is in an open folder, indented", () => {
    const tree = sample();
    tree.setOpen("src", true);
    expect(tree.rows().map((row) => [row.path, row.depth])).toEqual([
      ["src", 0],
      ["src/x.ts", 1],
      ["a2", 0],
      ["a10", 0],
      ["b.txt", 0],
    ]);
  });

  it("replaces a listing as a whole, and adds a later page", () => {
    const tree = new FileTree();
    tree.put({ path: "", entries: [entry("a"), entry("b")], more: true });
    expect(tree.rows().at(-1)?.rest).toBe(true);
    expect(tree.nextAfter("")).toBe("b");
    tree.put({ path: "", entries: [entry("c")], more: false }, "b");
    expect(tree.rows().map((row) => row.name)).toEqual(["a", "b", "c"]);
    tree.put({ path: "", entries: [entry("z")], more: false });
    expect(tree.rows().map((row) => row.name)).toEqual(["z"]);
  });

  it("says which folders must be listed to reveal a path", () => {
    const tree = sample();
    expect(tree.reveal("src/deep/er/f.ts")).toEqual(["src/deep", "src/deep/er"]);
    expect(tree.isOpen("src/deep")).toBe(true);
  });

  it("forgets what was below a folder that is gone", () => {
    const tree = sample();
    tree.setOpen("src", true);
    tree.drop("src");
    expect(tree.isListed("src")).toBe(false);
    expect(tree.shown()).toEqual([""]);
  });
});

describe("paths", () => {
  it("knows what is above", () => {
    expect(foldersAbove("a/b/c")).toEqual(["a", "a/b"]);
    expect(foldersAbove("a")).toEqual([]);
    expect(parentOf("a")).toBe("");
  });
});

describe("treeMove", () => {
  it("opens, enters, leaves and closes", () => {
    const tree = sample();
    expect(treeMove(tree.rows(), 0, "ArrowRight")).toEqual({ open: "src" });
    tree.setOpen("src", true);
    expect(treeMove(tree.rows(), 0, "ArrowRight")).toEqual({ to: 1 });
    expect(treeMove(tree.rows(), 1, "ArrowLeft")).toEqual({ to: 0 });
    expect(treeMove(tree.rows(), 0, "ArrowLeft")).toEqual({ close: "src" });
    expect(treeMove(tree.rows(), 0, "ArrowUp")).toBeNull();
  });
});
