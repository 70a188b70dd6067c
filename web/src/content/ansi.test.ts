import { describe, expect, it } from "vitest";
import { plainText, terminalText } from "./ansi";

const runs = (text: string) => terminalText(text).lines;

describe("terminal output", () => {
  it.each([
    ["plain", "a\nb", "a\nb"],
    ["colours are no text", "\u001b[31mred\u001b[0m plain", "red plain"],
    ["carriage return starts over", "10%\r20%\r100%\ndone", "100%\ndone"],
    ["line end of Windows", "a\r\nb\r\n", "a\nb"],
    ["cursor moves are dropped", "\u001b[2J\u001b[10;10Hhidden\u001b[1A", "hidden"],
    ["window title is dropped", "\u001b]0;evil\u0007ok", "ok"],
    ["link keeps its words", "\u001b]8;;https://evil.example\u001b\\words\u001b]8;;\u001b\\", "words"],
    ["unclosed OSC eats its rest only", "ok\n\u001b]0;never closed", "ok"],
    ["device strings are dropped", "\u001bP1$r0m\u001b\\x", "x"],
    ["erase of a line", "secret\u001b[2Kshown", "shown"],
    ["backspace", "ab\bc", "ac"],
    ["bell and nul", "a\u0007\u0000b", "ab"],
    ["charset and keypad escapes", "\u001b(B\u001b=x", "x"],
    ["8 bit CSI", "\u009b31mx\u009b0m", "x"],
    ["lone escape at the end", "x\u001b", "x"],
  ])("%s", (_name, text, wanted) => expect(plainText(text)).toBe(wanted));

  it("gives colours as classes", () => {
    expect(runs("\u001b[1;31mred\u001b[22mthin\u001b[39m.")[0]).toEqual([
      { text: "red", cls: "f-red bold" },
      { text: "thin", cls: "f-red" },
      { text: ".", cls: "" },
    ]);
    expect(runs("\u001b[38;5;196mx")[0]?.[0]?.cls).toBe("f-red");
    expect(runs("\u001b[38;2;10;200;30mx")[0]?.[0]?.cls).toBe("f-green");
    expect(runs("\u001b[7mx")[0]?.[0]?.cls).toBe("f-black b-white");
    expect(runs("\u001b[8mx")[0]?.[0]?.cls).toBe("dim");
  });

  it("keeps the last lines and counts the others", () => {
    const text = Array.from({ length: 5000 }, (_, i) => `line ${i}`).join("\n");
    const out = terminalText(text, 100);
    expect(out.lines.length).toBe(100);
    expect(out.dropped).toBe(4900);
    expect(out.lines.at(-1)?.[0]?.text).toBe("line 4999");
  });

  it("cuts huge lines", () => {
    expect(runs("x".repeat(1_000_000))[0]?.[0]?.text.length).toBeLessThan(5000);
  });

  it("reads a megabyte quickly", () => {
    const text = "\u001b[32mok\u001b[0m some output of a test\n".repeat(30_000);
    const start = performance.now();
    terminalText(text);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
