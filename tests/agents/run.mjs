// Real agents against a scripted model: a TAP line for each scene of each agent. Agents come from the npm registry
// into build/agents; one that cannot be had is skipped with its reason.
//
//   tools/node.sh tests/agents/run.mjs [--list] [--keep] [NAME…]   NAME: an agent's, or part of a test's
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { install, startBench } from "./bench.mjs";
import { scenes } from "./scenes.mjs";
import { agents } from "./table.mjs";

const scenario = join(dirname(fileURLToPath(import.meta.url)), "scenario.json");
const names = (agent) => scenes.map(([name]) => `${agent.name}_${name}`);

function say(name, started, problem) {
  const lines = problem ? (problem.stack ?? String(problem)).split("\n").slice(0, 30) : [];
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log([...lines, `${problem ? "not ok" : "ok"} - ${name} # ${seconds} s`].join("\n"));
}

// Every scene needs the one before: after a failure the rest has failed, too.
async function runAgent(agent, next, wanted) {
  const bench = await startBench([agent, next], scenario);
  const stage = { ...bench, agent, next };
  let broken = null;
  try {
    for (const [name, play] of scenes) {
      const full = `${agent.name}_${name}`;
      const started = Date.now();
      let problem = broken && new Error(`not tried: ${broken} has failed`);
      if (!problem) {
        try {
          await play(stage);
        } catch (error) {
          problem = error;
          broken = full;
          error.stack += `\n${bench.daemon.output().split("\n").slice(-15).join("\n")}`;
        }
      }
      if (wanted(full)) say(full, started, problem);
    }
  } finally {
    if (process.argv.includes("--keep")) console.log(`kept: ${bench.daemon.folder}`);
    else await bench.end();
  }
  return broken === null;
}

async function main(words) {
  const asked = words.filter((word) => !word.startsWith("--"));
  const wanted = (name) => asked.length === 0 || asked.some((word) => name.includes(word));
  const chosen = agents.filter((agent) => names(agent).some(wanted));
  if (words.includes("--list")) return void chosen.flatMap(names).filter(wanted).forEach((name) => console.log(name));
  const reasons = new Map(agents.map((agent) => [agent, install(agent)]));
  const there = agents.filter((agent) => !reasons.get(agent));
  let isGood = true;
  for (const agent of chosen) {
    const reason = reasons.get(agent) ?? (there.length < 2 ? "no second agent to hand over to" : null);
    if (reason) {
      names(agent).filter(wanted).forEach((name) => console.log(`ok - ${name} # SKIP ${reason}`));
      continue;
    }
    const next = there[(there.indexOf(agent) + 1) % there.length];
    isGood = await runAgent(agent, next, wanted) && isGood;
  }
  process.exit(isGood ? 0 : 1);
}

await main(process.argv.slice(2));
