import { describe, expect, it } from "vitest";
import { overlay } from "./runs";
import { runsOf } from "./scopes";

describe("runs", () => {
  it("lays marks over colours", () => {
    const line = [{ text: "const ", cls: "sy-k" }, { text: "abc = 1", cls: "" }];
    expect(overlay(line, [[4, 8]], "word")).toEqual([
      { text: "cons", cls: "sy-k" },
      { text: "t ", cls: "sy-k word" },
      { text: "ab", cls: "word" },
      { text: "c = 1", cls: "" },
    ]);
    expect(overlay(line, [], "word")).toEqual(line);
    expect(overlay(line, [[0, 2], [6, 9]], "w").map((run) => run.text).join("")).toBe("const abc = 1");
  });

  it("cuts a tree of scopes into lines", () => {
    const tree = { children: [{ scope: "keyword", children: ["let"] }, " a = ", { scope: "string", children: ["`x\ny`"] }] };
    expect(runsOf(tree)).toEqual([
      [{ text: "let", cls: "sy-k" }, { text: " a = ", cls: "" }, { text: "`x", cls: "sy-s" }],
      [{ text: "y`", cls: "sy-s" }],
    ]);
  });
});
