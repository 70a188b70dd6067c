// The built page's size and its budget: what loads before the first paint, what loads on demand,
// and everything embedded in the program. Sizes are of build/web/dist, in bytes as gzip sends them;
// fonts count at their file size.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { root } from "./harness/daemon.mjs";

const dist = join(root, "build/web/dist");
const KB = 1024;

const names = () => readdirSync(join(dist, "assets"));
const read = (name) => readFileSync(join(dist, "assets", name));
const gz = (name) => gzipSync(read(name), { level: 9 }).length;
const sum = (list, size) => list.reduce((total, name) => total + size(name), 0);

// The files named in index.html, and their static imports.
function before(suffix) {
  const html = readFileSync(join(dist, "index.html"), "utf8");
  const found = new Set([...html.matchAll(/\/assets\/([^"]+)/g)].map((match) => match[1]));
  for (const name of found) {
    if (!name.endsWith(".js")) continue;
    for (const match of read(name).toString().matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) found.add(match[1]);
  }
  return [...found].filter((name) => name.endsWith(suffix));
}

// Lazily loaded chunks that contain this text.
function later(text) {
  const first = new Set(before(".js"));
  return names().filter((name) => name.endsWith(".js") && !first.has(name) && read(name).toString().includes(text));
}

const told = (list, size) => list.map((name) => `  ${name} ${size(name)}`).join("\n");
const measured = (list, size, most) => ({ bytes: sum(list, size), most, detail: told(list, size) });

// Everything that a browser could load, in its smallest form. The program also embeds gzip
// versions.
function embedded() {
  const all = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    .map((one) => join(one.parentPath ?? one.path, one.name));
  const size = (path) => {
    const bytes = readFileSync(path);
    return all.includes(`${path}.br`) ? 0 : bytes.length;
  };
  return measured(all, size, 700 * KB);
}

// Latin fonts: those that an English page loads first.
const firstFonts = () => names().filter((name) => /latin-(?!ext)/.test(name) && /\.woff2$/.test(name) && !/italic/.test(name));

export const sizeBudgets = [
  { name: "scripts_before_the_first_paint", measure: () => measured(before(".js"), gz, 80 * KB) },
  { name: "sheets_before_the_first_paint", measure: () => measured(before(".css"), gz, 16 * KB) },
  { name: "fonts_of_the_first_paint", measure: () => measured(firstFonts(), (name) => read(name).length, 80 * KB) },
  { name: "shell_when_it_is_opened", measure: () => measured(later("xterm-helper"), gz, 110 * KB) },
  { name: "highlighter_when_code_is_seen", measure: () => measured(names().filter((name) => /worker.*\.js$/.test(name)), gz, 30 * KB) },
  { name: "everything_in_its_smallest_form", measure: embedded },
];
