// Characters that make text look like something else: direction controls, invisible characters,
// control codes, letters of another script within a word. They are shown by their code and have no
// effect. "prose" permits what languages need; "title" (names of sessions, rows, lists) also marks
// look-alikes; "command" permits none, since people approve what they read there.

export type Care = "prose" | "title" | "command";
export interface Segment {
  readonly text: string;
  readonly mark?: { readonly code: string; readonly name: string };
}

const names: Readonly<Record<number, string>> = {
  0x00ad: "soft hyphen", 0x034f: "invisible joiner", 0x061c: "Arabic letter mark", 0x115f: "invisible filler",
  0x1160: "invisible filler", 0x180e: "invisible separator", 0x200b: "zero-width space", 0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner", 0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator",
  0x2029: "paragraph separator", 0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding",
  0x202c: "end of direction change", 0x202d: "left-to-right override", 0x202e: "right-to-left override",
  0x2060: "word joiner", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "isolate",
  0x2069: "end of isolate", 0x3164: "invisible filler", 0xfeff: "byte order mark", 0xffa0: "invisible filler",
  0x00a0: "no-break space", 0x2007: "figure space", 0x202f: "narrow no-break space", 0x3000: "wide space",
};

// Always marked, in any text.
const always =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/u;
// Needed by Persian, by Indic scripts and by emoji, but never in a command.
const inCommands = /[\r\u200c\u200d\u00a0\u2000-\u200a\u202f\u205f\u3000\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/u;
const alwaysAny = new RegExp(always.source, "u");
const commandAny = new RegExp(`${always.source}|${inCommands.source}`, "u");

// Letters that look Latin but are not. Marked if a word mixes them with Latin letters.
const lookAlike = /[\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u13a0-\u13ff\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u;
const mixedWord = /[\p{L}\p{N}]+/gu;
const latin = /[A-Za-z]/;

export function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

function nameOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const known = names[point];
  if (known) return known;
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return "control character";
  if (lookAlike.test(character)) return `looks like a Latin letter (${character})`;
  return "invisible character";
}

// Fullwidth and mathematical letters do not belong in a command, mixed or not. In a title,
// fullwidth letters may be Japanese.
const aloneInCommand = /[\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u;
const aloneInTitle = /[\u{1d400}-\u{1d7ff}]/u;

function lookAlikesOf(text: string, care: Care): Set<number> {
  const at = new Set<number>();
  const alone = care === "command" ? aloneInCommand : aloneInTitle;
  for (const word of text.matchAll(mixedWord)) {
    const whole = word[0];
    if (!lookAlike.test(whole)) continue;
    if (!latin.test(whole) && !alone.test(whole)) continue;
    let offset = word.index;
    for (const character of whole) {
      if (lookAlike.test(character)) at.add(offset);
      offset += character.length;
    }
  }
  return at;
}

// Fast path for the usual text, which has nothing to mark.
export function isPlain(text: string, care: Care): boolean {
  if ((care === "command" ? commandAny : alwaysAny).test(text)) return false;
  return care === "prose" || !lookAlike.test(text) || lookAlikesOf(text, care).size === 0;
}

export function segments(text: string, care: Care): Segment[] {
  if (isPlain(text, care)) return text === "" ? [] : [{ text }];
  const found: Segment[] = [];
  const alike = care === "prose" ? new Set<number>() : lookAlikesOf(text, care);
  const odd = care === "command" ? commandAny : alwaysAny;
  let plain = "";
  let offset = 0;
  for (const character of text) {
    if (alike.has(offset) || odd.test(character)) {
      if (plain) found.push({ text: plain });
      plain = "";
      found.push({ text: character, mark: { code: codeOf(character), name: nameOf(character) } });
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
  return lookAlike.test(text) ? `${text} ${mark.code}` : mark.code;
}

// For plain-text places (the tab's title, notifications, labels): marks in brackets.
export function markedText(text: string, care: Care = "title"): string {
  if (isPlain(text, care)) return text;
  return segments(text, care).map((one) => (one.mark ? `[${shownAs(one)}]` : one.text)).join("");
}
