// Runs the tests of the page in a real browser against real daemons, and prints a TAP line for each.
// Pictures of what failed, and of every page, are in build/web-shots.
//
//   tools/node.sh tests/web/run.mjs [--list] [NAME…]      NAME: part of a test's name, or of its file's
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Suite } from "./harness/suite.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const testTimeout = 120_000;

async function suites() {
  const found = [];
  for (const file of readdirSync(here).filter((name) => name.endsWith(".test.mjs")).sort()) {
    const suite = new Suite(file);
    (await import(pathToFileURL(join(here, file)))).default(suite);
    found.push(suite);
  }
  return found;
}

function withDeadline(promise, name) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${name} did not end within ${testTimeout} ms`)), testTimeout);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function runOne(suite, test, browser) {
  const started = Date.now();
  let problem = null;
  try {
    await withDeadline(suite.run(test, browser), test.name);
  } catch (error) {
    problem = error;
  }
  if (problem) console.log((problem.stack ?? String(problem)).split("\n").slice(0, 40).join("\n"));
  console.log(`${problem ? "not ok" : "ok"} - ${test.name} # ${((Date.now() - started) / 1000).toFixed(1)} s`);
  return problem === null;
}

async function main(words) {
  const isList = words.includes("--list");
  const wanted = words.filter((word) => !word.startsWith("--"));
  const all = await suites();
  const chosen = all.map((suite) => [suite, suite.tests.filter((test) => wanted.length === 0 ||
    wanted.some((word) => test.name.includes(word) || suite.file.startsWith(word)))]).filter(([, tests]) => tests.length > 0);
  if (isList) {
    for (const [, tests] of chosen) tests.forEach((test) => console.log(test.name));
    return;
  }
  const { launchBrowser } = await import("./harness/browser.mjs");
  const browser = await launchBrowser();
  try {
    for (const [suite, tests] of chosen) {
      try {
        for (const test of tests) {
          if (!await runOne(suite, test, browser)) process.exitCode = 1;
        }
      } finally {
        await suite.end();
      }
    }
  } finally {
    await browser.close();
  }
}

await main(process.argv.slice(2));
