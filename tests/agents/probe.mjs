// `perdure agents probe` on real agents, against a model that does what the probe asks: prints the
// result of each step, and then the rows of the table in docs/agents.md.
//
//   tools/node.sh tests/agents/probe.mjs [NAME…]
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { install, startBench } from "./bench.mjs";
import { agents, probedOnly } from "./table.mjs";

const scenario = join(dirname(fileURLToPath(import.meta.url)), "probe.json");
export const steps = ["new", "prompt", "permission", "cancel", "kill", "resume", "load", "unknown id", "two", "end"];

export async function probed(daemon, name) {
  const run = await new Promise((done) => execFile(daemon.program("perdure"), ["agents", "probe", "--json", name],
    { env: { PATH: process.env.PATH, HOME: join(daemon.folder, "user"), PERDURE_HOME: daemon.home }, timeout: 1_800_000 },
    (error, stdout, stderr) => done({ stdout, problem: stdout ? null : stderr || String(error) })));
  if (run.problem) throw new Error(run.problem);
  return JSON.parse(run.stdout);
}

export const outcomes = (report) => Object.fromEntries(report.steps.map(({ name, outcome }) => [name, outcome]));

export async function withProbeBench(chosen, use) {
  const bench = await startBench(chosen, scenario);
  try {
    await use(bench);
  } finally {
    await bench.end();
  }
}

function row(report) {
  const found = outcomes(report);
  return `| \`${report.agent}\` | ${report.program_version || "says none"} | ${steps.map((step) => found[step]).join(" | ")} |`;
}

async function main(words) {
  const rows = [];
  for (const agent of [...agents, ...probedOnly].filter(({ name }) => words.length === 0 || words.includes(name))) {
    const reason = install(agent);
    if (reason) {
      console.log(`${agent.name}: ${reason}`);
      continue;
    }
    await withProbeBench([agent], async ({ daemon }) => {
      const report = await probed(daemon, agent.name);
      console.log(`${agent.name}: ${report.program} ${report.program_version}, advertises ${report.advertised.join(", ")}`);
      for (const { name, outcome, ms = 0, says } of report.steps) console.log(`  ${name.padEnd(12)}${outcome.padEnd(9)}${`${ms} ms`.padEnd(10)}${says}`);
      rows.push(row(report));
    });
  }
  console.log(rows.join("\n"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
