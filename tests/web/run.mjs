// Runs the tests of the page in a real browser against real daemons, and prints one TAP line per
// test. Pictures of failures, and of every page, are in build/web-shots. Each file has its own
// daemon and browser, and several files run at once (--jobs); both always end with the file.
//
//   tools/node.sh tests/web/run.mjs [--list] [--jobs=N] [NAME…]   NAME: part of a test's name,
//                                                                 or of its file's
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Suite } from "./harness/suite.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const testTimeout = 90_000;
const endTimeout = 15_000;

async function suites() {
  const found = [];
  for (const file of readdirSync(here).filter((name) => name.endsWith(".test.mjs")).sort()) {
    const suite = new Suite(file);
    (await import(pathToFileURL(join(here, file)))).default(suite);
    found.push(suite);
  }
  return found;
}

// A file's name, or its beginning, selects all of its tests.
function chosenOf(all, wanted) {
  const isWanted = (suite, test) => wanted.length === 0 ||
    wanted.some((word) => test.name.includes(word) || suite.file.startsWith(word));
  return all.map((suite) => ({ suite, tests: suite.tests.filter((test) => isWanted(suite, test)) }))
    .filter(({ tests }) => tests.length > 0);
}

async function runOne(suite, test, browser) {
  const started = Date.now();
  let problem = null;
  try {
    await suite.run(test, browser, testTimeout);
  } catch (error) {
    problem = error;
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const lines = problem ? (problem.stack ?? String(problem)).split("\n").slice(0, 40) : [];
  console.log([...lines, `${problem ? "not ok" : "ok"} - ${test.name} # ${seconds} s`].join("\n"));
  return problem === null;
}

const atMost = (promise, ms) => Promise.race([promise, new Promise((done) => setTimeout(done, ms).unref())]);

class Run {
  isStopped = false;
  failures = 0;
  open = new Set();

  constructor(chosen, launch) {
    this.waiting = [...chosen];
    this.launch = launch;
  }

  async work() {
    for (let next = this.waiting.shift(); next && !this.isStopped; next = this.waiting.shift()) {
      const held = { suite: next.suite, browser: await this.launch() };
      this.open.add(held);
      try {
        for (const test of next.tests) {
          if (this.isStopped) break;
          if (!await runOne(next.suite, test, held.browser)) this.failures += 1;
        }
      } finally {
        await this.close(held);
      }
    }
  }

  async close(held) {
    if (!this.open.delete(held)) return;
    await atMost(held.browser.close().catch(() => {}), endTimeout);
    await held.suite.end().catch((error) => {
      this.failures += 1;
      console.log(`${error.stack}\nnot ok - ${held.suite.file.replace(/\W/g, "_")}_ends_cleanly # 0.0 s`);
    });
  }

  async stop() {
    this.isStopped = true;
    await Promise.all([...this.open].map((held) => this.close(held)));
  }
}

async function main(words) {
  const wanted = words.filter((word) => !word.startsWith("--"));
  const jobs = Number(words.find((word) => word.startsWith("--jobs="))?.slice(7) ?? 2);
  const chosen = chosenOf(await suites(), wanted);
  if (words.includes("--list")) {
    for (const { tests } of chosen) tests.forEach((test) => console.log(test.name));
    return;
  }
  console.log(`1..${chosen.reduce((count, { tests }) => count + tests.length, 0)}`);
  const { launchBrowser, shots } = await import("./harness/browser.mjs");
  for (const name of readdirSync(shots).filter((file) => file.startsWith("failed."))) rmSync(join(shots, name));
  const run = new Run(chosen, launchBrowser);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => void run.stop().finally(() => process.exit(1)));
  }
  await Promise.all(Array.from({ length: jobs }, () => run.work()));
  process.exit(run.failures === 0 ? 0 : 1);
}

await main(process.argv.slice(2));
