// Pictures that were looked at and found good stand in tests/web/baselines, at half their size. A shot
// that has one is held against it: where more than 2 % of the picture differ, or a third of what is drawn
// on it (most of a page is paper), the page looks different now, and a person has to look again.
// PERDURE_BASELINES=write takes the present ones instead, =print says how much each differs.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "./daemon.mjs";

const folder = join(root, "tests/web/baselines");
const differsAt = 40; // of 255, in any colour: less is another smoothing of the same letters
const tolerated = { picture: 0.02, drawn: 0.35 };

// Runs in a blank page. Gives the picture at half its size, and how much of it differs from the other.
async function compare({ picture, other, differsAt }) {
  const read = async (base64) => {
    const image = new Image();
    image.src = `data:image;base64,${base64}`; // told by its first bytes
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
  // Drawn is what differs from its neighbour on the left: edges, which is what letters and lines are made of.
  let differing = 0;
  let drawn = 0;
  for (let i = 4; i < then.length; i += 4) {
    if (isFar(then, i, now.bytes, i)) differing += 1;
    if (isFar(then, i, then, i - 4) || isFar(now.bytes, i, now.bytes, i - 4)) drawn += 1;
  }
  return { half, picture: differing / (width * height), drawn: differing / Math.max(1, drawn) };
}

// What is wrong with the picture, in words; null: nothing, or there is no baseline of that name.
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
