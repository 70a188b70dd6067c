// Hostile input: for any text of an agent, the HTML contains only our own tags and attributes. Text
// that arrives in pieces gives the same blocks as the same text in one piece.
import { describe, expect, it } from "vitest";
import { markdownBlocks, safeHref, StreamingMarkdown, type Block } from "./markdown";

const htmlOf = (blocks: readonly Block[]): string =>
  blocks.map((b) => (b.kind === "html" ? b.html : b.kind === "long" ? `<p>${b.pieces.join("")}${b.end}</p>` : `[code ${b.lang.length} ${b.closed}]`)).join("\n");
const render = (text: string): string => htmlOf(markdownBlocks(text));

// Every tag and attribute that the renderer may emit.
const allowedTag =
  /^<\/?(p|h2|strong|em|del|code|pre|br|hr|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|a|span|div)((?: (?:class|href|title|target|rel|start|tabindex|role|aria-label)="[^"<>]*")*)>$/;
function strayTags(html: string): string[] {
  return (html.match(/<[^>]*>/g) ?? []).filter((tag) => !allowedTag.test(tag));
}

const hostile: readonly [string, string][] = [
  ["script", "<script>alert(1)</script>"],
  ["script in text", "hello <script>alert(1)</script> world"],
  ["event handler", '<img src=x onerror="alert(1)">'],
  ["svg", "<svg><g onload=alert(1)></g></svg>"],
  ["iframe", "<iframe srcdoc='<script>alert(1)</script>'></iframe>"],
  ["style", "<style>@import url(https://evil.example)</style>"],
  ["raw pre keeps nothing raw", "<pre><script>alert(1)</script></pre>"],
  ["inline raw code", "a <code><img src=x onerror=alert(1)></code> b"],
  ["javascript link", "[x](javascript:alert(1))"],
  ["javascript link, mixed case and tab", "[x](JaVa\tScript:alert(1))"],
  ["javascript link, entity", "[x](&#106;avascript:alert(1))"],
  ["javascript link, angle", "[x](<java\nscript:alert(1)>)"],
  ["data link", "[x](data:text/html,<script>alert(1)</script>)"],
  ["vbscript", "[x](vbscript:msgbox)"],
  ["autolink javascript", "<javascript:alert(1)>"],
  ["title breaks out", '[x](https://a.example "\\" onmouseover=alert(1)")'],
  ["href breaks out", '[x](https://a.example/"onmouseover="alert(1))'],
  ["image with handler", '![" onerror="alert(1)](https://a.example/x.png)'],
  ["image javascript", "![x](javascript:alert(1))"],
  ["reference", "[x][1]\n\n[1]: javascript:alert(1)"],
  ["heading", "# <img src=x onerror=alert(1)>"],
  ["table", "| <b onclick=alert(1)> | b |\n|---|---|\n| <script> | [x](javascript:1) |"],
  ["list", "- <script>\n  - [ ] <img onerror=1 src=x>"],
  ["quote", "> <script>alert(1)</script>"],
  ["code span", "`<script>`"],
  ["nested fences", "````\n```html\n<script>\n```\n````"],
  ["fence in a list", "- a\n  ```\n  <script>\n  ```"],
  ["unclosed comment", "<!-- <script>alert(1)</script>"],
  ["cdata", "<![CDATA[ <script> ]]>"],
  ["language breaks out", '```"><script>\nx\n```'],
  ["nul and control", "a\u0000b\u001b[31m<script>"],
  ["null byte in tag", "<scr\u0000ipt>alert(1)</script>"],
];

describe("hostile markdown", () => {
  it.each(hostile)("%s", (_name, text) => {
    const html = render(text);
    expect(strayTags(html)).toEqual([]);
    for (const [, href] of html.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^(https?:|mailto:)/);
    expect(html).not.toMatch(/<img|<script|<svg|<iframe|<style/i);
  });

  it.each(hostile)("%s, while it streams", (_name, text) => {
    const stream = new StreamingMarkdown();
    for (let end = 1; end <= text.length; end += 1) expect(strayTags(htmlOf(stream.update(text.slice(0, end))))).toEqual([]);
  });

  it("shows direction controls instead of obeying them", () => {
    expect(render("safe \u202Etxt.exe")).toContain("U+202E");
    expect(render("a\u2066b")).toContain("isolate");
  });

  it("takes huge lines", () => {
    const html = render("x".repeat(300_000));
    expect(html.length).toBeGreaterThan(300_000);
  });

  it("takes deep nesting", () => {
    expect(strayTags(render(`${"> ".repeat(200)}<script>`))).toEqual([]);
    expect(strayTags(render("*".repeat(2000) + "a"))).toEqual([]);
  });
});

describe("links", () => {
  it.each([
    ["https://a.example/x", "https://a.example/x"],
    ["http://a.example", "http://a.example/"],
    ["mailto:a@b.example", "mailto:a@b.example"],
    ["javascript:alert(1)", null],
    [" javascript:alert(1)", null],
    ["java\nscript:alert(1)", null],
    ["data:text/html,x", null],
    ["file:///etc/passwd", null],
    ["//a.example", null],
    ["/etc/passwd", null],
    ["src/a.ts", null],
    ["https://a.example/\u202Etxt", null],
    ["", null],
  ])("%s", (href, wanted) => expect(safeHref(href)).toBe(wanted));

  it("says where a link goes when its words do not", () => {
    expect(render("[click](https://evil.example/a)")).toContain('<span class="host">evil.example</span>');
    expect(render("[https://bank.example](https://evil.example/a)")).toContain("evil.example</span>");
    expect(render("https://a.example/b")).not.toContain("host");
    expect(render("[x](https://a.example)")).toContain('rel="noopener noreferrer"');
  });

  it("leaves what only looks like an address as it was written", () => {
    expect(render("<p1:2>word")).toBe("<p>&lt;p1:2&gt;word</p>");
  });

  it("never loads an image", () => {
    expect(render("![chart](https://a.example/x.png)")).toBe(
      '<p><a class="image" href="https://a.example/x.png" target="_blank" rel="noopener noreferrer" title="https://a.example/x.png">chart</a></p>',
    );
  });
});

describe("streaming", () => {
  it("keeps a fence open until it is closed", () => {
    const stream = new StreamingMarkdown();
    const open = stream.update("say\n\n```ts\nconst a = 1;\n");
    expect(open.at(-1)).toMatchObject({ kind: "code", lang: "ts", closed: false, code: "const a = 1;" });
    expect(stream.update("say\n\n```ts\nconst a = 1;\n```").at(-1)).toMatchObject({ closed: true });
    expect(stream.update("say\n\n```ts\nconst a = 1;\n```\n\nmore").length).toBe(3);
  });

  it("keeps earlier blocks identical", () => {
    const stream = new StreamingMarkdown();
    const before = stream.update("one\n\ntwo\n\nthr");
    const after = stream.update("one\n\ntwo\n\nthree and on");
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
  });

  it("starts over when the text is another one", () => {
    const stream = new StreamingMarkdown();
    stream.update("one\n\ntwo");
    expect(htmlOf(stream.update("three"))).toBe("<p>three</p>");
  });

  it("lets a late definition reach back", () => {
    const stream = new StreamingMarkdown();
    stream.update("see [a]\n\nmore\n\n");
    expect(htmlOf(stream.update("see [a]\n\nmore\n\n[a]: https://a.example\n"))).toContain('href="https://a.example/"');
  });

  const pieces = ["# head\n", "para text\n", "\n", "- item\n", "  - deeper\n", "1. one\n", "```ts\n", "```\n", "code();\n", "> quote\n",
    "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "    indented\n", "---\n", "**bold** `x`\n", "<div>\n", "- [x] done\n", "\r\n", "===\n", "\ttab\n", "[r]\n"];
  it("gives the same as the whole text, however it was cut", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * below);
    };
    for (let round = 0; round < 400; round += 1) {
      let text = "";
      for (let i = random(14) + 1; i > 0; i -= 1) text += pieces[random(pieces.length)];
      const stream = new StreamingMarkdown();
      let end = 0;
      let got: readonly Block[] = [];
      while (end < text.length) {
        end = Math.min(text.length, end + 1 + random(9));
        got = stream.update(text.slice(0, end));
      }
      expect(htmlOf(got), JSON.stringify(text)).toBe(render(text));
      expect(new Set(got.map((b) => b.key)).size).toBe(got.length);
    }
  });

  it("costs what is added", () => {
    const paragraph = "word ".repeat(60) + "\n\n";
    const text = paragraph.repeat(400);
    const stream = new StreamingMarkdown();
    const start = performance.now();
    for (let end = 0; end < text.length; end += 50) stream.update(text.slice(0, end));
    expect(performance.now() - start).toBeLessThan(4000);
  });
});
