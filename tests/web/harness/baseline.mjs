// Pictures that a person has approved are in tests/web/baselines, at half size. A shot is compared
// with its baseline, if there is one: if more than 2 % of the picture differ, or a third of its
// drawn part (most of a page is paper), a person must check the page again. PERDURE_BASELINES=write
// replaces the baselines, =print prints each difference.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./daemon.mjs";

const folder = join(root, "tests/web/baselines");
const differsAt = 40; // of 255, in any colour: a smaller difference comes from font smoothing
const tolerated = { picture: 0.02, drawn: 0.35 };

// Runs in a blank page. Returns the picture at half size, and the share that differs from the
// other.
async function compare({ picture, other, differsAt }) {
  const read = async (base64) => {
    const image = new Image();
    image.src = `data:image;base64,${base64}`; // detected by its first bytes
    await image.decode();
    return image;
  };
  const pixelsOf = (image, width, height) => {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, width, height);
    return { canvas, bytes: context.getImageData(0, 0, width, height).data };
  };
  const image = await read(picture);
  const width = Math.round(image.width / 2);
  const height = Math.round(image.height / 2);
  const now = pixelsOf(image, width, height);
  const half = now.canvas.toDataURL("image/webp", 0.85).split(",")[1];
  if (!other) return { half, picture: 0, drawn: 0 };
  const before = await read(other);
  if (before.width !== width || before.height !== height) return { half, picture: 1, drawn: 1 };
  const then = pixelsOf(before, width, height).bytes;
  const isFar = (a, i, b, j) => Math.max(Math.abs(a[i] - b[j]), Math.abs(a[i + 1] - b[j + 1]), Math.abs(a[i + 2] - b[j + 2])) > differsAt;
  // A pixel counts as drawn if it differs from its left neighbour: edges, as in letters and lines.
  let differing = 0;
  let drawn = 0;
  for (let i = 4; i < then.length; i += 4) {
    if (isFar(then, i, now.bytes, i)) differing += 1;
    if (isFar(then, i, then, i - 4) || isFar(now.bytes, i, now.bytes, i - 4)) drawn += 1;
  }
  return { half, picture: differing / (width * height), drawn: differing / Math.max(1, drawn) };
}

// The picture's difference in words; null: none, or no baseline with that name.
export async function differenceFrom(browser, name, png) {
  const file = join(folder, `${name}.webp`);
  if (!existsSync(file)) return null;
  const isWriting = process.env.PERDURE_BASELINES === "write";
  const other = isWriting ? null : readFileSync(file).toString("base64");
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const { half, picture, drawn } = await page.evaluate(compare, { picture: png.toString("base64"), other, differsAt });
    if (isWriting) writeFileSync(file, Buffer.from(half, "base64"));
    const words = `${(picture * 100).toFixed(2)} % of the picture, ${(drawn * 100).toFixed(1)} % of what is drawn`;
    if (process.env.PERDURE_BASELINES === "print") console.log(`# ${name}: ${words}`);
    const isSame = picture <= tolerated.picture && drawn <= tolerated.drawn;
    return isSame ? null : `${name} looks different: ${words} (build/web-shots/${name}.png)`;
  } finally {
    await context.close();
  }
}
