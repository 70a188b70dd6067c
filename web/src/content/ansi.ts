// Turns terminal output into lines of coloured runs. Keeps colours and weights; drops sequences
// that move the cursor, set the title or query the terminal. A carriage return restarts its line,
// as progress bars expect. Bounded: keeps the last lines and counts the dropped ones.
export interface Run {
  readonly text: string;
  readonly cls: string; // class names; "" for plain text
}
export interface TerminalText {
  readonly lines: readonly (readonly Run[])[];
  readonly dropped: number; // lines dropped before the first one here
}

const palette = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
const lineChars = 4000;

interface Pen {
  fg: string;
  bg: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  under: boolean;
  inverse: boolean;
  hidden: boolean;
}
const freshPen = (): Pen => ({ fg: "", bg: "", bold: false, dim: false, italic: false, under: false, inverse: false, hidden: false });

// Hidden (concealed) text stays readable: people should see what a program printed.
function classOf(pen: Pen): string {
  const names: string[] = [];
  const [front, back] = pen.inverse ? [pen.bg || "black", pen.fg || "white"] : [pen.fg, pen.bg];
  if (front) names.push(`f-${front}`);
  if (back) names.push(`b-${back}`);
  if (pen.bold) names.push("bold");
  if (pen.dim || pen.hidden) names.push("dim");
  if (pen.italic) names.push("italic");
  if (pen.under) names.push("under");
  return names.join(" ");
}

function nearest(r: number, g: number, b: number): string {
  const high = Math.max(r, g, b);
  if (high < 60) return "black";
  const bit = (value: number): number => (value > high * 0.6 ? 1 : 0);
  return palette[bit(r) + 2 * bit(g) + 4 * bit(b)] ?? "white";
}

function color256(n: number): string {
  if (n < 16) return palette[n % 8] ?? "";
  if (n >= 232) return n < 240 ? "black" : "white";
  const cube = n - 16;
  return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
}

// 38;5;n and 38;2;r;g;b. Returns the colour and how many numbers it used.
function extended(codes: readonly number[], at: number): [string, number] {
  if (codes[at + 1] === 5) return [color256(codes[at + 2] ?? 0), 2];
  if (codes[at + 1] === 2) return [nearest(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), 4];
  return ["", 1];
}

const switches: Readonly<Record<number, Partial<Pen>>> = {
  1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { under: true }, 7: { inverse: true }, 8: { hidden: true },
  22: { bold: false, dim: false }, 23: { italic: false }, 24: { under: false }, 27: { inverse: false }, 28: { hidden: false },
  39: { fg: "" }, 49: { bg: "" },
};

function applySgr(pen: Pen, parameters: string): void {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map((part) => Number(part || 0));
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) Object.assign(pen, freshPen());
    else if (code === 38 || code === 48) {
      const [color, taken] = extended(codes, i);
      if (code === 38) pen.fg = color;
      else pen.bg = color;
      i += taken;
    } else if (code >= 30 && code <= 37) pen.fg = palette[code - 30] ?? "";
    else if (code >= 40 && code <= 47) pen.bg = palette[code - 40] ?? "";
    else if (code >= 90 && code <= 97) pen.fg = palette[code - 90] ?? "";
    else if (code >= 100 && code <= 107) pen.bg = palette[code - 100] ?? "";
    else Object.assign(pen, switches[code] ?? {});
  }
}

// CSI, OSC/DCS/APC/PM/SOS up to their end (or the end of the text), two-character escapes, and the
// control characters handled below.
const control =
  /\u001b\[([0-9;:?<=>!]*)[ -/]*([@-~])|\u009b([0-9;:?]*)([@-~])|\u001b[\]PX^_][\s\S]*?(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]?|\r\n|[\r\n\b\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

class Lines {
  readonly done: Run[][] = [];
  dropped = 0;
  #line: Run[] = [];
  #length = 0;
  #restart = false;
  constructor(readonly keep: number) {}

  put(text: string, cls: string): void {
    if (this.#restart) this.clear();
    const room = lineChars - this.#length;
    if (room <= 0 || text === "") return;
    const part = text.length > room ? `${text.slice(0, room)} …` : text;
    this.#length += text.length;
    const last = this.#line.at(-1);
    if (last && last.cls === cls) this.#line[this.#line.length - 1] = { text: last.text + part, cls };
    else this.#line.push({ text: part, cls });
  }
  clear(): void {
    this.#line = [];
    this.#length = 0;
    this.#restart = false;
  }
  restart(): void {
    this.#restart = true;
  }
  back(): void {
    const last = this.#line.at(-1);
    if (!last || this.#restart) return;
    const text = last.text.slice(0, -1);
    if (text) this.#line[this.#line.length - 1] = { text, cls: last.cls };
    else this.#line.pop();
    this.#length -= 1;
  }
  end(): void {
    this.done.push(this.#line);
    this.clear();
    if (this.done.length > this.keep * 2) this.#trim();
  }
  #trim(): void {
    const over = this.done.length - this.keep;
    if (over > 0) this.done.splice(0, over);
    this.dropped += Math.max(over, 0);
  }
  finish(): TerminalText {
    if (this.#line.length) this.end();
    this.#trim();
    return { lines: this.done, dropped: this.dropped };
  }
}

export function terminalText(text: string, keep = 2000): TerminalText {
  const lines = new Lines(keep);
  const pen = freshPen();
  let cls = "";
  let at = 0;
  for (const found of text.matchAll(control)) {
    lines.put(text.slice(at, found.index), cls);
    at = found.index + found[0].length;
    const [whole, parameters, final, parameters8, final8] = found;
    if (whole === "\n" || whole === "\r\n") lines.end();
    else if (whole === "\r") lines.restart();
    else if (whole === "\b") lines.back();
    else if (final === "m" || final8 === "m") {
      applySgr(pen, parameters ?? parameters8 ?? "");
      cls = classOf(pen);
    } else if (final === "K" && (parameters === "2" || parameters === "1")) lines.clear();
  }
  lines.put(text.slice(at), cls);
  return lines.finish();
}

export function plainText(text: string): string {
  return terminalText(text, Number.MAX_SAFE_INTEGER).lines.map((line) => line.map((run) => run.text).join("")).join("\n");
}
