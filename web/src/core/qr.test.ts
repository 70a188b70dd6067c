// The test has its own reader: it checks the format against the table of the standard and the error
// correction by its syndromes.
import { describe, expect, it } from "vitest";
import { masks, product, qrOf, qrPath, type QrField } from "./qr";

// Level M, masks 0 to 7, as printed in the standard.
const formats = [
  "101010000010010", "101000100100101", "101111001111100", "101101101001011", "100010111111001", "100000011001110", "100111110010111", "100101010100000",
];
const blocksOf: Record<number, [number[], number]> = {
  1: [[16], 10], 2: [[28], 16], 3: [[44], 26], 4: [[32, 32], 18], 5: [[43, 43], 24], 6: [[27, 27, 27, 27], 16], 7: [[31, 31, 31, 31], 18],
  8: [[38, 38, 39, 39], 22], 9: [[36, 36, 36, 37, 37], 22], 10: [[43, 43, 43, 43, 44], 26],
};

function maskOf(field: QrField): number {
  const at = (x: number, y: number): string => (field.dark[y]?.[x] ? "1" : "0");
  const places: [number, number][] = [0, 1, 2, 3, 4, 5, 7, 8].map((x) => [x, 8]);
  const down: [number, number][] = [7, 5, 4, 3, 2, 1, 0].map((y) => [8, y]);
  return formats.indexOf([...places, ...down].map(([x, y]) => at(x, y)).join(""));
}

function bytesOf(field: QrField): number[] {
  const turns = masks[maskOf(field)];
  if (!turns) throw new Error("its format is none of the standard's");
  const bits = [...field.path()].map(([x, y]) => (field.dark[y]?.[x] !== turns(x, y) ? 1 : 0));
  return Array.from({ length: bits.length >> 3 }, (_, at) => bits.slice(at * 8, at * 8 + 8).reduce<number>((all, bit) => all * 2 + bit, 0));
}

function blocks(all: number[], version: number): number[][] {
  const [lengths, correction] = blocksOf[version] as [number[], number];
  const out: number[][] = lengths.map(() => []);
  let from = 0;
  for (let at = 0; at < Math.max(...lengths); at += 1) {
    lengths.forEach((length, block) => void (at < length && out[block]?.push(all[from++] ?? -1)));
  }
  for (let at = 0; at < correction; at += 1) out.forEach((block) => block.push(all[from++] ?? -1));
  return out;
}

function isWhole(block: number[], correction: number): boolean {
  let root = 1;
  for (let count = 0; count < correction; count += 1) {
    if (block.reduce((value, byte) => product(value, root) ^ byte, 0) !== 0) return false;
    root = product(root, 2);
  }
  return true;
}

function read(field: QrField): string {
  const [lengths, correction] = blocksOf[field.version] as [number[], number];
  const found = blocks(bytesOf(field), field.version);
  found.forEach((block) => expect(isWhole(block, correction)).toBe(true));
  const bits = found.flatMap((block, at) => block.slice(0, lengths[at])).map((byte) => byte.toString(2).padStart(8, "0")).join("");
  expect(bits.slice(0, 4)).toBe("0100");
  const wide = field.version < 10 ? 8 : 16;
  const length = Number.parseInt(bits.slice(4, 4 + wide), 2);
  const bytes = Array.from({ length }, (_, at) => Number.parseInt(bits.slice(4 + wide + at * 8, 12 + wide + at * 8), 2));
  return new TextDecoder().decode(new Uint8Array(bytes));
}

describe("a QR code", () => {
  it("says what it was made of, at every length that fits", () => {
    for (const length of [0, 1, 14, 15, 26, 27, 42, 62, 84, 106, 122, 123, 152, 180, 181, 213]) {
      const text = Array.from({ length }, (_, at) => "http://perdure.test/#launch=09af"[at % 32]).join("");
      const field = qrOf(text);
      expect(field && read(field)).toBe(text);
    }
    expect(read(qrOf("https://[fd00::1]:7433/#launch=Grüße") as QrField)).toBe("https://[fd00::1]:7433/#launch=Grüße");
  });

  it("is none of what does not fit", () => {
    expect(qrOf("x".repeat(214))).toBeNull();
  });

  it("multiplies as its field does", () => {
    expect(product(2, 0x80)).toBe(0x1d);
    expect(product(7, 1)).toBe(7);
    // Every element but 0 is a power of 2.
    const seen = new Set<number>();
    for (let value = 1, count = 0; count < 255; count += 1) seen.add((value = product(value, 2)));
    expect(seen.size).toBe(255);
  });

  it("has its corners, and a path that covers the dark fields once", () => {
    const field = qrOf("http://192.168.1.20:7433/#launch=perdure_launch_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef") as QrField;
    expect(field.version).toBe(7);
    expect(field.dark[3]?.slice(0, 8).map(Number).join("")).toBe("10111010");
    const covered = [...qrPath(field).matchAll(/h(\d+)v1/g)].reduce((all, match) => all + Number(match[1]), 0);
    expect(covered).toBe(field.dark.flat().filter(Boolean).length);
  });
});
