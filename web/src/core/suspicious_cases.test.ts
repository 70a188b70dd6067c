// The command line marks the same characters; both sides are tested against one table.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { segments, suspiciousCount, type Care } from "./suspicious";

interface Case { name: string; text: string; prose: string[]; title: string[]; command: string[] }
const file = new URL("../../../tests/shared/deceptive_cases.json", import.meta.url);
const { cases, marked } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[]; marked: Record<string, string> };
const codes = (text: string, care: Care): string[] => segments(text, care).flatMap((one) => (one.mark ? [one.mark.code] : []));
const cares = ["prose", "title", "command"] as const;

// Every character of Unicode for which this is so, as ranges.
function rangesOf(isSo: (character: string) => boolean): string {
  const found: [number, number][] = [];
  for (let code = 0; code < 0x110000; code += 1) {
    if ((code >= 0xd800 && code < 0xe000) || !isSo(String.fromCodePoint(code))) continue;
    const last = found.at(-1);
    if (last && last[1] === code - 1) last[1] = code;
    else found.push([code, code]);
  }
  return found.map((range) => [...new Set(range)].map((code) => code.toString(16)).join("-")).join(" ");
}

describe("deceptive characters", () => {
  it.each(cases)("$name", ({ text, ...wanted }) => {
    for (const care of cares) expect(codes(text, care)).toEqual(wanted[care]);
  });
  it.each(cares)("every code point in: %s", (care) => {
    expect(rangesOf((one) => suspiciousCount(one, care) > 0)).toBe(marked[`alone ${care}`]);
    expect(rangesOf((one) => suspiciousCount(`a${one}b`, care) > 0)).toBe(marked[`in_a_word ${care}`]);
  });
  it("a command has no character that is not seen, or is the same as ASCII to Unicode", () => {
    const isHidden = (one: string): boolean => /[\p{DI}\p{Cc}\p{Cf}\p{Z}\p{Co}\p{NChar}]/u.test(one) && !/[ \n\t]/.test(one);
    const isAscii = (one: string): boolean => one > "\x7f" && one !== "…" && /^[\x20-\x7e]+$/.test(one.normalize("NFKC"));
    expect(rangesOf((one) => (isHidden(one) || isAscii(one)) && suspiciousCount(`a${one}b`, "command") === 0)).toBe("");
  });
  it("prose has no hidden character but those that languages and emoji need", () => {
    const needed = /[\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f]/u;
    const isHidden = (one: string): boolean => /[\p{DI}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(one) && !needed.test(one);
    expect(rangesOf((one) => isHidden(one) && suspiciousCount(one, "prose") === 0)).toBe("");
  });
});
