import { describe, expect, it } from "vitest";
import { diffOfPatch, diffOfTexts, splitRows, type DiffLine } from "./diff";

const marked = (line: DiffLine | undefined): string[] => (line?.words ?? []).map(([from, to]) => line?.text.slice(from, to) ?? "");

const patch = `diff --git a/src/list.ts b/src/list.ts
index 1..2 100644
--- a/src/list.ts
+++ b/src/list.ts
@@ -41,3 +41,4 @@ export function list
 const a = parse(query);
-const rows = await db.invoices({ createdAfter: after, limit });
+const cursor = decode(after);
+const rows = await db.invoices({ after: cursor, limit });
 const page = rows.slice(0, limit);
`;

describe("diff", () => {
  it("reads a patch with its numbers", () => {
    const [file] = diffOfPatch(patch);
    expect(file).toMatchObject({ path: "src/list.ts", added: 2, removed: 1, isNew: false, leftOut: 0 });
    expect(file?.hunks[0]?.lines.map((line) => [line.kind, line.old, line.now])).toEqual([
      ["same", 41, 41], ["del", 42, null], ["add", null, 42], ["add", null, 43], ["same", 43, 44],
    ]);
  });

  it("reads new, deleted and several files", () => {
    const files = diffOfPatch(`--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1,1 @@\n+x\n--- a/old.ts\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-y\n`);
    expect(files.map((f) => [f.path, f.isNew, f.isGone])).toEqual([["new.ts", true, false], ["old.ts", false, true]]);
  });

  it("gives nothing for what is no patch", () => {
    expect(diffOfPatch("@@ broken\n+++")).toEqual([]);
  });

  it("marks the words that differ", () => {
    const lines = diffOfTexts("a", "const a = one(two);\n", "const a = one(three);\n").hunks[0]?.lines ?? [];
    expect(marked(lines[0])).toEqual(["two"]);
    expect(marked(lines[1])).toEqual(["three"]);
  });

  it("marks nothing where everything differs", () => {
    const lines = diffOfTexts("a", "alpha beta gamma\n", "eins zwei drei\n").hunks[0]?.lines ?? [];
    expect(lines.every((line) => line.words.length === 0)).toBe(true);
  });

  it("shows a new file as added", () => {
    expect(diffOfTexts("a", null, "x\ny\n")).toMatchObject({ isNew: true, added: 2, removed: 0 });
    expect(diffOfTexts("a", null, "")).toMatchObject({ added: 0, hunks: [] });
  });

  it("bounds what it shows", () => {
    const file = diffOfTexts("a", null, "x\n".repeat(10_000));
    expect(file.hunks[0]?.lines.length).toBe(5000);
    expect(file.leftOut).toBe(5000);
    expect(file.added).toBe(10_000);
  });

  it("gives up comparing two huge texts that share nothing", () => {
    const many = (word: string): string => Array.from({ length: 6000 }, (_, i) => `${word}${i}`).join("\n");
    const start = performance.now();
    const file = diffOfTexts("a", many("a"), many("b"));
    expect(file).toMatchObject({ added: 6000, removed: 6000, isNew: false });
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it("pairs lines for the split view", () => {
    const [file] = diffOfPatch(patch);
    const hunk = file?.hunks[0];
    expect(hunk && splitRows(hunk).map((row) => [row.left?.old ?? null, row.right?.now ?? null])).toEqual([
      [41, 41], [42, 42], [null, 43], [43, 44],
    ]);
  });
});
