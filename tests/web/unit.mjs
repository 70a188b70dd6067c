// Tests of the page without a browser: its unit tests, its types with Svelte's accessibility
// warnings as errors, and the sizes in its budget. Prints one TAP line per test.
//
//   tools/node.sh tests/web/unit.mjs [--list]
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { root } from "./harness/daemon.mjs";
import { sizeBudgets } from "./sizes.mjs";

const web = join(root, "web");
const wordsOf = (text) => text.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_|_$/g, "");
let failures = 0;
let planned = 0;

function report(good, name, detail = "", seconds = 0) {
  if (!good) {
    failures += 1;
    console.log(detail);
  }
  console.log(`${good ? "ok" : "not ok"} - ${name} # ${seconds.toFixed(1)} s`);
}

function run(program, words) {
  const started = Date.now();
  const done = spawnSync(process.execPath, [join(web, "node_modules", program), ...words],
    { cwd: web, encoding: "utf8", maxBuffer: 64 << 20 });
  return { code: done.status, output: `${done.stdout}${done.stderr}`, seconds: (Date.now() - started) / 1000 };
}

const nameOf = (file, title) => `${wordsOf(basename(file).replace(/\.test\.ts$/, ""))}.${wordsOf(title)}`;

function unitTests() {
  const folder = mkdtempSync(join(tmpdir(), "perdure-web-unit-"));
  const file = join(folder, "report.json");
  const done = run("vitest/vitest.mjs", ["run", "--reporter=json", `--outputFile=${file}`]);
  let seen = 0;
  try {
    const found = JSON.parse(readFileSync(file, "utf8"));
    planned = found.numTotalTests + 1 + sizeBudgets.length;
    for (const suite of found.testResults) {
      if (suite.assertionResults.length === 0) report(false, nameOf(suite.name, "loads"), suite.message);
      for (const test of suite.assertionResults) {
        seen += 1;
        if (test.status !== "passed" && test.status !== "failed") {
          console.log(`ok - ${nameOf(suite.name, test.fullName)} # SKIP vitest calls it ${test.status}`);
          continue;
        }
        report(test.status === "passed", nameOf(suite.name, test.fullName), test.failureMessages.join("\n"),
          (test.duration ?? 0) / 1000);
      }
    }
  } catch (error) {
    report(false, "vitest", `${error.message}\n${done.output.slice(-4000)}`);
  }
  rmSync(folder, { recursive: true, force: true });
  if (seen === 0 || (done.code !== 0 && failures === 0)) report(false, "vitest", done.output.slice(-4000));
}

// Reads the names from the files: listing them must not run the tests.
function list() {
  const files = readdirSync(join(web, "src"), { recursive: true }).filter((name) => name.endsWith(".test.ts"));
  for (const file of files.sort()) {
    const text = readFileSync(join(web, "src", file), "utf8");
    for (const match of text.matchAll(/\b(?:it|test)(?:\.each\([^)]*\))?\(\s*["'`]([^"'`]+)/g)) console.log(nameOf(file, match[1]));
  }
  for (const name of ["types_and_accessibility_warnings", ...sizeBudgets.map((one) => `size.${one.name}`)]) console.log(name);
}

if (process.argv.includes("--list")) {
  list();
} else {
  execFileSync(process.execPath, [join(root, "tools/build_page.mjs"), "--install"], { stdio: "inherit" });
  unitTests();
  const checked = run("svelte-check/bin/svelte-check", ["--fail-on-warnings", "--tsconfig", "./tsconfig.json"]);
  report(checked.code === 0, "types_and_accessibility_warnings", checked.output.slice(-6000), checked.seconds);
  for (const budget of sizeBudgets) {
    const { bytes, most, detail } = budget.measure();
    report(bytes <= most, `size.${budget.name}`, `${bytes} bytes, at most ${most}\n${detail}`);
  }
  console.log(`1..${planned}`);
  process.exitCode = failures === 0 ? 0 : 1;
}
