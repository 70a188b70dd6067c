// A QR code of a text: byte mode, error correction level M, the smallest of the versions 1 to 10
// that holds it (213 bytes). Implements ISO/IEC 18004; the test decodes the codes. Pure.

/**
 * For each version at level M: the data bytes of each block, and the correction bytes per block.
 */
const versions: readonly { blocks: readonly number[]; correction: number }[] = [
  { blocks: [16], correction: 10 }, { blocks: [28], correction: 16 }, { blocks: [44], correction: 26 },
  { blocks: [32, 32], correction: 18 }, { blocks: [43, 43], correction: 24 }, { blocks: [27, 27, 27, 27], correction: 16 },
  { blocks: [31, 31, 31, 31], correction: 18 }, { blocks: [38, 38, 39, 39], correction: 22 },
  { blocks: [36, 36, 36, 37, 37], correction: 22 }, { blocks: [43, 43, 43, 43, 44], correction: 26 },
];
const alignments: readonly (readonly number[])[] = [
  [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
];

const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);

// Products in the field of 256 elements by x^8 + x^4 + x^3 + x^2 + 1.
export function product(a: number, b: number): number {
  let out = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    out = (out << 1) ^ ((out >> 7) * 0x11d);
    if ((b >> bit) & 1) out ^= a;
  }
  return out;
}

function divisor(degree: number): number[] {
  const out = [...Array<number>(degree - 1).fill(0), 1];
  let root = 1;
  for (let count = 0; count < degree; count += 1) {
    for (let at = 0; at < degree; at += 1) out[at] = product(out[at] ?? 0, root) ^ (out[at + 1] ?? 0);
    root = product(root, 2);
  }
  return out;
}

function correctionOf(data: readonly number[], degree: number): number[] {
  const by = divisor(degree);
  const rest = Array<number>(degree).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0);
    rest.push(0);
    by.forEach((coefficient, at) => (rest[at] = (rest[at] ?? 0) ^ product(coefficient, factor)));
  }
  return rest;
}

// The text's bytes with mode, length and padding.
function dataBytes(bytes: Uint8Array, version: number, room: number): number[] {
  const bits: number[] = [];
  const put = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, room * 8 - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < room * 8; pad ^= 0xec ^ 0x11) put(pad, 8);
  return Array.from({ length: room }, (_, at) => bits.slice(at * 8, at * 8 + 8).reduce((all, bit) => all * 2 + bit, 0));
}

// Interleaves the blocks byte by byte, then their correction bytes the same way.
function interleaved(data: readonly number[], version: number): number[] {
  const { blocks, correction } = versions[version - 1] as (typeof versions)[number];
  let from = 0;
  const parts = blocks.map((length) => data.slice(from, (from += length)));
  const corrections = parts.map((part) => correctionOf(part, correction));
  const out: number[] = [];
  for (const list of [parts, corrections]) {
    const longest = Math.max(...list.map((part) => part.length));
    for (let at = 0; at < longest; at += 1) for (const part of list) if (at < part.length) out.push(part[at] ?? 0);
  }
  return out;
}

/** The fields that each mask inverts. */
export const masks: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0, (_, y) => y % 2 === 0, (x) => x % 3 === 0, (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0, (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

function remainder(value: number, bits: number, by: number): number {
  let rest = value;
  for (let count = 0; count < bits; count += 1) rest = (rest << 1) ^ ((rest >> (bits - 1)) * by);
  return rest;
}

export class QrField {
  readonly size: number;
  /** Rows of fields, true: dark. */
  readonly dark: boolean[][];
  /** Fields that carry no data. */
  readonly fixed: boolean[][];

  constructor(readonly version: number) {
    this.size = version * 4 + 17;
    this.dark = Array.from({ length: this.size }, () => Array<boolean>(this.size).fill(false));
    this.fixed = this.dark.map((row) => [...row]);
    this.patterns();
  }

  private set(x: number, y: number, isDark: boolean): void {
    if (x < 0 || y < 0 || x >= this.size || y >= this.size) return;
    (this.dark[y] as boolean[])[x] = isDark;
    (this.fixed[y] as boolean[])[x] = true;
  }

  private patterns(): void {
    for (let at = 0; at < this.size; at += 1) {
      this.set(6, at, at % 2 === 0);
      this.set(at, 6, at % 2 === 0);
    }
    const last = this.size - 4;
    for (const [x, y] of [[3, 3], [last, 3], [3, last]] as const) this.square(x, y, [true, true, false, true, false]);
    const places = alignments[this.version - 1] ?? [];
    const end = places.length - 1;
    places.forEach((x, i) => places.forEach((y, j) => {
      const isCorner = (i === 0 && j === 0) || (i === 0 && j === end) || (i === end && j === 0);
      if (!isCorner) this.square(x, y, [true, false, true]);
    }));
    this.format(0);
    this.versionBits();
  }

  // Draws concentric rings around a point, innermost first.
  private square(x: number, y: number, rings: readonly boolean[]): void {
    const reach = rings.length - 1;
    for (let dy = -reach; dy <= reach; dy += 1) {
      for (let dx = -reach; dx <= reach; dx += 1) {
        this.set(x + dx, y + dy, rings[Math.max(Math.abs(dx), Math.abs(dy))] ?? false);
      }
    }
  }

  /** Writes level M and the mask, twice. */
  format(mask: number): void {
    const bits = ((mask << 10) | remainder(mask, 10, 0x537)) ^ 0x5412;
    const bit = (at: number): boolean => ((bits >> at) & 1) === 1;
    for (let at = 0; at <= 5; at += 1) this.set(8, at, bit(at));
    this.set(8, 7, bit(6));
    this.set(8, 8, bit(7));
    this.set(7, 8, bit(8));
    for (let at = 9; at < 15; at += 1) this.set(14 - at, 8, bit(at));
    for (let at = 0; at < 8; at += 1) this.set(this.size - 1 - at, 8, bit(at));
    for (let at = 8; at < 15; at += 1) this.set(8, this.size - 15 + at, bit(at));
    this.set(8, this.size - 8, true);
  }

  private versionBits(): void {
    if (this.version < 7) return;
    const bits = (this.version << 12) | remainder(this.version, 12, 0x1f25);
    for (let at = 0; at < 18; at += 1) {
      const isDark = ((bits >> at) & 1) === 1;
      const near = this.size - 11 + (at % 3);
      this.set(near, Math.floor(at / 3), isDark);
      this.set(Math.floor(at / 3), near, isDark);
    }
  }

  /** Data fields in their order: two columns at a time, alternately upwards and downwards. */
  *path(): Generator<[number, number]> {
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      for (let step = 0; step < this.size; step += 1) {
        const y = ((right + 1) & 2) === 0 ? this.size - 1 - step : step;
        for (const x of [right, right - 1]) if (!this.fixed[y]?.[x]) yield [x, y];
      }
    }
  }

  put(bytes: readonly number[], mask: number): void {
    const turns = masks[mask] as (x: number, y: number) => boolean;
    let at = 0;
    for (const [x, y] of this.path()) {
      const bit = ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
      (this.dark[y] as boolean[])[x] = (bit === 1) !== turns(x, y);
      at += 1;
    }
    this.format(mask);
  }

  /**
   * Penalty for hard-to-read patterns: long runs, squares, lookalikes of a corner, imbalance of
   * colours.
   */
  penalty(): number {
    const lines = [...this.dark, ...this.dark.map((_, x) => this.dark.map((row) => row[x] ?? false))];
    let out = 0;
    for (const line of lines) {
      const text = line.map((isDark) => (isDark ? "1" : "0")).join("");
      for (const run of text.match(/0{5,}|1{5,}/g) ?? []) out += run.length - 2;
      out += 40 * ((text.match(/(?=00001011101)/g) ?? []).length + (text.match(/(?=10111010000)/g) ?? []).length);
    }
    for (let y = 1; y < this.size; y += 1) {
      for (let x = 1; x < this.size; x += 1) {
        const here = this.dark[y]?.[x];
        if (here === this.dark[y]?.[x - 1] && here === this.dark[y - 1]?.[x] && here === this.dark[y - 1]?.[x - 1]) out += 3;
      }
    }
    const share = sum(this.dark.map((row) => row.filter(Boolean).length)) / (this.size * this.size);
    return out + 10 * Math.floor(Math.abs(share * 100 - 50) / 5);
  }
}

/** The code of a text, or null if the text is too long. */
export function qrOf(text: string): QrField | null {
  const bytes = new TextEncoder().encode(text);
  const version = 1 + versions.findIndex(({ blocks }, at) => bytes.length + (at + 1 < 10 ? 2 : 3) <= sum(blocks));
  if (version === 0) return null;
  const room = sum((versions[version - 1] as (typeof versions)[number]).blocks);
  const all = interleaved(dataBytes(bytes, version, room), version);
  let best: QrField | null = null;
  let least = Infinity;
  masks.forEach((_, mask) => {
    const field = new QrField(version);
    field.put(all, mask);
    const penalty = field.penalty();
    if (penalty < least) [best, least] = [field, penalty];
  });
  return best;
}

/** Its dark fields as an SVG path, one unit per field, from 0 to its size. */
export function qrPath(field: QrField): string {
  let out = "";
  field.dark.forEach((row, y) => {
    for (let x = 0; x < row.length; x += 1) {
      if (!row[x]) continue;
      let length = 1;
      while (row[x + length]) length += 1;
      out += `M${x} ${y}h${length}v1h-${length}z`;
      x += length;
    }
  });
  return out;
}
