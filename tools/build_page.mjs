// Builds the page into FOLDER/dist, each file that gains by it with its brotli form beside it. Does
// nothing when dist was built from the same bytes, so every preset may ask: only the first one works.
// What is installed from the registry is what the lock file names, once for each lock file.
//
//   tools/node.sh tools/build_page.mjs FOLDER             builds
//   tools/node.sh tools/build_page.mjs --install          only has web/node_modules there
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const web = join(root, "web");
const single = ["index.html", "package.json", "package-lock.json", "vite.config.ts", "svelte.config.js",
  "tsconfig.json"];
const isTest = /\.test\.ts$/;

function filesIn(folder) {
  const found = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((one) => one.isFile());
  return found.map((one) => join(one.parentPath ?? one.path, one.name)).sort();
}

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const bytes = readFileSync(path);
    hash.update(`${relative(root, path)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

const textOf = (path) => (existsSync(path) ? readFileSync(path, "utf8") : "");

function run(program, words, environment = {}) {
  try {
    execFileSync(program, words, { cwd: web, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
  } catch (error) {
    process.stderr.write(`${error.stdout ?? ""}${error.stderr ?? ""}\n`);
    throw new Error(`${program} ${words.join(" ")} failed`);
  }
}

// The stamp lies inside of what it vouches for, so that both go together.
function install() {
  const stamp = join(web, "node_modules", ".perdure-lock");
  const lock = hashOf([join(web, "package-lock.json"), join(web, "package.json")]);
  if (textOf(stamp) === lock) return;
  run("npm", ["ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"]);
  writeFileSync(stamp, lock);
}

function compress(dist) {
  for (const path of filesIn(dist)) {
    const plain = readFileSync(path);
    const packed = brotliCompressSync(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    });
    if (packed.length < plain.length * 0.95) writeFileSync(`${path}.br`, packed);
  }
}

function build(folder) {
  const sources = [...filesIn(join(web, "src")), ...filesIn(join(web, "public"))].filter((one) => !isTest.test(one));
  const wanted = hashOf([fileURLToPath(import.meta.url), ...single.map((name) => join(web, name)), ...sources]);
  const stamp = join(folder, "built-from");
  const dist = join(folder, "dist");
  if (textOf(stamp) === wanted && existsSync(dist)) return;
  install();
  mkdirSync(folder, { recursive: true });
  const fresh = join(folder, "dist.new");
  rmSync(fresh, { recursive: true, force: true });
  run(process.execPath, [join(web, "node_modules/vite/bin/vite.js"), "build"], { PERDURE_WEB_OUT: fresh });
  compress(fresh);
  rmSync(stamp, { force: true });
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
  writeFileSync(stamp, wanted);
}

const [word] = process.argv.slice(2);
if (!word) throw new Error("usage: build_page.mjs FOLDER | --install");
try {
  if (word === "--install") install();
  else build(resolve(word));
} catch (error) {
  console.error(`build_page: ${error.message}`);
  process.exitCode = 1;
}
