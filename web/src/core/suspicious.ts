// Characters that make text look like something else: direction controls, invisible characters,
// control codes, letters of another script within a word. They are shown by their code and have no
// effect. "prose" permits what languages need; "title" (names of sessions, rows, lists) also marks
// look-alikes; "command" permits none, since people approve what they read there.

export type Care = "prose" | "title" | "command";
export interface Segment {
  readonly text: string;
  readonly mark?: { readonly code: string; readonly name: string; readonly hasShape: boolean };
}

const names: Readonly<Record<number, string>> = {
  0x00ad: "soft hyphen", 0x034f: "invisible joiner", 0x061c: "Arabic letter mark", 0x115f: "invisible filler",
  0x1160: "invisible filler", 0x180e: "invisible separator", 0x200b: "zero-width space", 0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner", 0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator",
  0x2029: "paragraph separator", 0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding",
  0x202c: "end of direction change", 0x202d: "left-to-right override", 0x202e: "right-to-left override",
  0x2060: "word joiner", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "isolate",
  0x2069: "end of isolate", 0x3164: "invisible filler", 0xfeff: "byte order mark", 0xffa0: "invisible filler",
  0x00a0: "no-break space", 0x2800: "blank Braille pattern", 0x2007: "figure space", 0x202f: "narrow no-break space", 0x3000: "wide space",
};

// The same tables as in src/base/deceptive.cc; tests/shared/deceptive_cases.json holds both to every code point.
const setOf = (ranges: string): RegExp =>
  new RegExp(`[${ranges.trim().split(/\s+/).map((range) => range.split("-").map((code) => `\\u{${code}}`).join("-")).join("")}]`, "u");
// Hidden, control or direction-changing wherever they stand.
const always = setOf(`
  0-8 b-c e-1f 7f-9f ad 34f 61c 115f-1160 17b4-17b5 180e 200b 200e-200f 2028-202e 2060-206f 2800 3164 fdd0-fdef feff
  ffa0 fff0-fffc fffe-ffff 1bca0-1bca3 1d159 1d173-1d17a 1fffe-1ffff 2fffe-2ffff 3fffe-3ffff 4fffe-4ffff 5fffe-5ffff
  6fffe-6ffff 7fffe-7ffff 8fffe-8ffff 9fffe-9ffff afffe-affff bfffe-bffff cfffe-cffff dfffe-e0fff efffe-effff
  ffffe-fffff 10fffe-10ffff`);
// Persian, Indic scripts and emoji need these, or fonts show something; a command has no use for them.
const inCommands = setOf(`
  d a0 335-338 600-605 6dd 70f 890-891 8e2 1680 180b-180d 180f 2000-200a 200c-200d 202f 205f 20d2-20d3 20d8-20da
  20e5-20eb 3000 e000-f8ff fe00-fe0f 110bd 110cd 13430-1343f f0000-ffffd 100000-10fffd`);
// What looks like a letter, a digit or a sign of a shell. In a command each is marked, beside its shape.
const fakes = setOf(`
  aa b2-b4 b9-ba 132-133 1c7-1cc 1f1-1f3 2b9-2bc 2c2-2c3 2c8 2cb 2d0 2dc 2e1-2e3 2f8 37e 387 55a 589-58a 5be 5c0 5c3
  5f3-5f4 66a 66d 6d4 700-704 1735 1802-1803 1806 1fbd 1fbf 1fef 1ffd-1ffe 2010-2021 2024-2025 2027 2032-203a 203c
  2043-2044 2047-2049 204e 2052-2053 2070-2071 2074-207a 207c-208a 208c-208e 2090-2093 2095-209c 20a8 2100-214f
  2160-2188 2212 2215-2217 2219 2223 2225 2236 223c 22c5 2329-232a 2460-24ff 2571-2573 2758 275b-275e 2768-2775 2796
  27cb 27e8-27e9 29f5-29f9 2a74-2a76 2e3a-2e3b 2e40 3002 3008-3009 3014-3015 3033 3250-325f 32b1-32bf 32cc-32cf
  3371-337a 3380-3381 3383-338b 338e-3394 3396-339a 339c-33a6 33a9-33ad 33b0-33b1 33b3-33b5 33b7-33bb 33bd-33bf
  33c2-33c5 33c7-33dd 33ff a4f8-a4ff a60e a789-a78a fb00-fb06 fb29 fe10-fe19 fe30-fe52 fe54-fe66 fe68-fe6b ff01-ff5e
  ff61 107a5 1ccd6-1ccf9 1d400-1d7ff 1f100-1f10a 1f110-1f16c 1f190 1fbf0-1fbf9`);
// Scripts with letters that look Latin: marked in a word that has Latin ones.
const lookAlikes = setOf(`
  370-52f 531-58f 13a0-167f 1c80-1c8f 1f00-1fff 2100-2115 2117-211f 2123-214f 2160-2188 2c80-2cff 2d30-2d7f a4d0-a4ff
  a640-a69f ab70-abbf ff01-ff5e 10280-102df 10300-1034f 10400-1044f 104b0-104ff 118a0-118ff 1d400-1d7ff`);
// Latin letters that look like ASCII ones. Languages need them, so only in commands.
const oddLatin = setOf(`
  131 17f 1c0-1c3 237 250-2b8 1d00-1dbf 2c60-2c7f a720-a788 a78b-a7ff ab30-ab6f`);
// Marked in titles in any word.
const alienInTitles = /[\u{1d400}-\u{1d7ff}]/u;
// What a word is made of beyond ASCII.
const letters = setOf(`
  aa b5 ba c0-d6 d8-f6 f8-2c1 370-374 376-37d 37f 386 388-3f5 3f7-481 48a-556 560-588 5d0-5ea 620-64a 66e-6d3 6d5-6dc
  6e5-6ff 710-115e 1161-17b3 17b6-180d 180f-1fff 2071 207f 2090-209c 2100-2115 2117-211f 2123-214f 2160-2188 2c00-2dff
  3041-3163 3165-d7ff f900-fdcf fdf0-fdff ff10-ff19 ff21-ff3a ff41-ff5a ff66-ff9f ffa1-ffdc 10000-1bc9f 1bca4-1cfff
  1d400-1d7ff 1e000-1efff 20000-2fffd 30000-3fffd`);
const mixedWord = new RegExp(`(?:[A-Za-z0-9]|${letters.source})+`, "gu");
const latin = /[A-Za-z]/;
const oneOf = (...sets: RegExp[]): RegExp => new RegExp(sets.map((set) => set.source).join("|"), "u");
const hiddenIn = { prose: always, title: always, command: oneOf(always, inCommands) };
const lookAlikesIn = { title: lookAlikes, command: oneOf(lookAlikes, oddLatin) };
const anyIn = { prose: always, title: oneOf(always, lookAlikes), command: oneOf(always, inCommands, fakes, lookAlikes, oddLatin) };

export function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

function nameOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const known = names[point];
  if (known) return known;
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return "control character";
  if (lookAlikes.test(character) || oddLatin.test(character)) return `looks like a Latin letter (${character})`;
  if (fakes.test(character)) return `looks like another character (${character})`;
  return "invisible character";
}

function lookAlikesOf(text: string, care: "title" | "command"): Set<number> {
  const at = new Set<number>();
  const marked = lookAlikesIn[care];
  for (const word of text.matchAll(mixedWord)) {
    const whole = word[0];
    if (!latin.test(whole) && !(care === "title" && alienInTitles.test(whole))) continue;
    let offset = word.index;
    for (const character of whole) {
      if (marked.test(character)) at.add(offset);
      offset += character.length;
    }
  }
  return at;
}

// Fast path for the usual text, which has nothing to mark.
export function isPlain(text: string, care: Care): boolean {
  return !anyIn[care].test(text) || segments(text, care).every((one) => !one.mark);
}

export function segments(text: string, care: Care): Segment[] {
  if (text === "" || !anyIn[care].test(text)) return text === "" ? [] : [{ text }];
  const found: Segment[] = [];
  const alike = care === "prose" ? new Set<number>() : lookAlikesOf(text, care);
  const hidden = hiddenIn[care];
  let plain = "";
  let offset = 0;
  for (const character of text) {
    const isHidden = hidden.test(character);
    if (isHidden || alike.has(offset) || (care === "command" && fakes.test(character))) {
      if (plain) found.push({ text: plain });
      plain = "";
      found.push({ text: character, mark: { code: codeOf(character), name: nameOf(character), hasShape: !isHidden } });
    } else {
      plain += character;
    }
    offset += character.length;
  }
  if (plain) found.push({ text: plain });
  return found;
}

// The number of suspicious characters.
export function suspiciousCount(text: string, care: Care): number {
  return segments(text, care).filter((segment) => segment.mark).length;
}

/** A segment as shown: a mark by its code, a look-alike with both its shape and its code. */
export function shownAs({ text, mark }: Segment): string {
  if (!mark) return text;
  return mark.hasShape ? `${text} ${mark.code}` : mark.code;
}

// For plain-text places (the tab's title, notifications, labels): marks in brackets.
export function markedText(text: string, care: Care = "title"): string {
  if (isPlain(text, care)) return text;
  return segments(text, care).map((one) => (one.mark ? `[${shownAs(one)}]` : one.text)).join("");
}
