import { describe, expect, it } from "vitest";
import { textToHtml } from "../content/marked_html";
import { isPlain, markedText, segments, suspiciousCount } from "./suspicious";

describe("suspicious characters", () => {
  it.each([
    ["plain command", "git status --short | head -n 3\n\tok", 0],
    ["right-to-left override", "rm \u202Efdp.exe", 1],
    ["isolates", "a\u2066b\u2069", 2],
    ["zero-width space", "git\u200bstatus", 1],
    ["byte order mark inside", "a\ufeffb", 1],
    ["escape", "a\u001b[2Kb", 1],
    ["carriage return", "safe\rrm -rf /", 1],
    ["Cyrillic a in a Latin word", "p\u0430ypal.com", 1],
    ["a Cyrillic word alone is a word", "привет", 0],
    ["fullwidth letters", "ｒｍ -rf", 2],
    ["no-break space", "rm\u00a0-rf", 1],
    ["tag characters", "a\u{e0061}b", 1],
    ["variation selector", "a\ufe01b", 1],
  ])("in a command: %s", (_name, text, count) => expect(suspiciousCount(text, "command")).toBe(count));

  it.each([
    ["emoji with joiner", "👩‍💻 ok"],
    ["Persian with non-joiner", "می\u200cخواهم"],
    ["Hebrew", "שלום"],
    ["Japanese", "東京"],
    ["no-break space", "10\u00a0MB"],
  ])("prose lets pass: %s", (_name, text) => expect(isPlain(text, "prose")).toBe(true));

  it("says what it is", () => {
    expect(segments("a\u202Eb", "prose")).toEqual([
      { text: "a" },
      { text: "\u202E", mark: { code: "U+202E", name: "right-to-left override", hasShape: false } },
      { text: "b" },
    ]);
    expect(textToHtml("<\u202E>")).toBe('&lt;<span class="odd" title="right-to-left override">U+202E</span>&gt;');
    expect(textToHtml("p\u0430y", "command")).toContain("\u0430 U+0430");
  });

  it.each([
    ["an override", "Invoice \u202Eexe.pdf", "Invoice [U+202E]exe.pdf"],
    ["a Cyrillic a in a Latin word", "p\u0430ypal", "p[\u0430 U+0430]ypal"],
    ["a zero-width space", "git\u200bpush", "git[U+200B]push"],
    ["mathematical letters", "\u{1d5ef}old", "[\u{1d5ef} U+1D5EF]old"],
  ])("a title shows %s", (_name, text, shown) => expect(markedText(text)).toBe(shown));

  it.each([
    ["Russian", "\u043f\u0440\u0438\u0432\u0435\u0442 world"],
    ["emoji with joiner", "👩‍💻 ok"],
    ["fullwidth Japanese", "\uff21\uff22\uff23\u30c6\u30b9\u30c8"],
  ])("a title lets pass: %s", (_name, text) => expect(markedText(text)).toBe(text));
});
