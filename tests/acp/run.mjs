// Perdure as an agent, driven by third-party programs: the protocol's SDK and acpx, against real
// daemons and the test agent. Prints one TAP line per test.
//
//   tools/node.sh tests/acp/run.mjs [NAME…]   NAME: part of a test's name
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Schema } from "../../tools/acp_schema.mjs";
import { installed } from "../../tools/npm_cache.mjs";
import { Daemon } from "../web/harness/daemon.mjs";
import { Editor } from "./editor.mjs";

const testTimeout = 90_000;
// acpx and a WebSocket client need a newer Node.js than the page's tools do.
const newer = `node-linux-${process.arch}`;
const from = installed("acp-clients", { "@agentclientprotocol/sdk": "2.4.0", ajv: "8.17.1", acpx: "0.19.1", [newer]: "22.23.3" });
const node = join(from.cache, "node_modules", newer, "bin/node");

if (Number(process.versions.node.split(".")[0]) < 22) {
  if (!existsSync(node)) throw new Error(`no Node.js 22 for ${process.arch}`);
  const { status } = spawnSync(node, process.argv.slice(1), { stdio: "inherit" });
  process.exit(status ?? 1);
}

const tests = [];
for (const file of ["sdk.test.mjs", "socket.test.mjs", "acpx.test.mjs"]) {
  (await import(`./${file}`)).default((name, run, setup = {}) => tests.push({ name, run, setup }));
}
const sdk = await import(pathToFileURL(join(from.cache, "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js")));
const schemas = Object.fromEntries(["v1", "v1.unstable"].map((name) => [name, new Schema(name, from)]));
const acpx = join(from.cache, "node_modules/.bin/acpx");

async function runOne({ run, setup }) {
  const daemon = await Daemon.start({ lines: ['listen = "127.0.0.1:0"'], ...setup });
  const editors = [];
  const start = (how) => async (more = {}) => {
    const editor = await how({ daemon, sdk, schemas, ...more });
    editors.push(editor);
    return editor;
  };
  let timer;
  try {
    const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error("took too long")), testTimeout); });
    await Promise.race([late, run({ daemon, work: join(daemon.folder, "work"), editor: start(Editor.start),
      socketEditor: start(Editor.overWebSocket), acpx: { node, program: acpx } })]);
    const problems = editors.flatMap((one) => one.wire.problems);
    if (problems.length > 0) throw new Error(`not as the schema has it:\n${problems.slice(0, 3).join("\n")}`);
  } catch (error) {
    for (const one of editors) if (one.stderr) console.log(one.stderr.trim());
    throw error;
  } finally {
    clearTimeout(timer);
    await daemon.stop();
  }
}

let failures = 0;
const wanted = process.argv.slice(2);
const chosen = tests.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
console.log(`1..${chosen.length}`);
for (const test of chosen) {
  const started = Date.now();
  let problem = null;
  try {
    await runOne(test);
  } catch (error) {
    problem = error;
    failures += 1;
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  if (problem) console.log((problem.stack ?? String(problem.message ?? JSON.stringify(problem))).split("\n").slice(0, 30).join("\n"));
  console.log(`${problem ? "not ok" : "ok"} - acp.${test.name} # ${seconds} s`);
}
process.exit(failures ? 1 : 0);
