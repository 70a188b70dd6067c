import { describe, expect, it } from "vitest";
import { markdownBlocks, StreamingMarkdown, type Block } from "./markdown";

const htmlOf = (blocks: readonly Block[]): string =>
  blocks.map((block) => (block.kind === "code" ? `[${block.code}]` : block.kind === "long" ? `<p>${block.pieces.join("")}${block.end}</p>` : block.html)).join("\n");
const words = (html: string): string => html.replace(/<[^>]*>/g, "").replace(/\s+/g, "");

// Seeded, so that every run uses the same numbers.
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

function longText(next: (below: number) => number, parts: number): string {
  const kinds = ["plain words that go on ", "**bold words** ", "`a code` ", "[a link](https://example.org/x) ", "_em_ ", "a * star ", "a_name_here ", "\n", "two ** stars ", "<b> & so on "];
  let text = "";
  for (let part = 0; part < parts; part += 1) text += kinds[next(kinds.length)] ?? "";
  return text.trimStart();
}

describe("a long paragraph that grows", () => {
  it("is in the end what reading it at once gives, however it came", () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const next = dice(seed);
      const text = `${longText(next, 300)}\n\n# After\n\n${longText(next, 60)}`;
      let clock = 0;
      const stream = new StreamingMarkdown(() => (clock += 1));
      for (let end = 0; end < text.length; end += 1 + next(60)) stream.update(text.slice(0, end), true);
      stream.update(text, true);
      expect(htmlOf(stream.update(text))).toBe(htmlOf(markdownBlocks(text)));
    }
  });

  it("shows all of the text at every moment", () => {
    const text = `A start. ${"Some words of a very long line, **bold** and `code`. ".repeat(200)}`;
    const stream = new StreamingMarkdown();
    for (let end = 7; end < text.length; end += 31) {
      const shown = words(htmlOf(stream.update(text.slice(0, end), true)));
      expect(shown.replaceAll("*", "").replaceAll("`", "")).toBe(text.slice(0, end).replace(/[\s*`]+/g, ""));
    }
  });

  it("keeps pieces and draws only a short end again", () => {
    const stream = new StreamingMarkdown();
    const text = "Some words of a very long line, **bold** and `code`. ".repeat(400);
    let longest = 0;
    let pieces: readonly string[] = [];
    for (let end = 2000; end < text.length; end += 20) {
      const [block] = stream.update(text.slice(0, end), true);
      if (block?.kind !== "long") throw new Error("not long");
      if (pieces.length > 0) expect(block.pieces.slice(0, 1)).toEqual(pieces.slice(0, 1));
      pieces = [...block.pieces];
      longest = Math.max(longest, block.end.length);
    }
    expect(pieces.length).toBeGreaterThan(10);
    expect(longest).toBeLessThan(1000);
  });

  it("does not cut inside of what is still open", () => {
    const stream = new StreamingMarkdown();
    const start = "Words and words. ".repeat(120);
    stream.update(start, true);
    stream.update(`${start}now **bold that goes on for `, true);
    const text = `${start}now **bold that goes on for ${"long ".repeat(200)}end** and out`;
    expect(htmlOf(stream.update(text, true))).toContain("<strong>bold that goes on");
  });

  it("ends with its paragraph", () => {
    const stream = new StreamingMarkdown();
    const start = "Words and words. ".repeat(120);
    stream.update(start, true);
    expect(stream.update(`${start}more`, true)[0]?.kind).toBe("long");
    const blocks = stream.update(`${start}more\n\n- a list`, true);
    expect(blocks.map((block) => block.kind)).toEqual(["html", "html"]);
    expect(htmlOf(blocks)).toContain("<li>a list</li>");
  });
});
