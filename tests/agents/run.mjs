// Real agents against a scripted model: one TAP line per scene of each agent. Agents are installed
// from the npm registry into build/agents; an agent that cannot be installed is skipped with the
// reason.
//
//   tools/node.sh tests/agents/run.mjs [--list] [--keep] [NAME…]   NAME: an agent's, or part of
//                                                                  a test's
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { install, startBench } from "./bench.mjs";
import { outcomes, probed, withProbeBench } from "./probe.mjs";
import { scenes } from "./scenes.mjs";
import { agents } from "./table.mjs";

const scenario = join(dirname(fileURLToPath(import.meta.url)), "scenario.json");
const names = (agent) => scenes.map(([name]) => `${agent.name}_${name}`);

function say(name, started, problem) {
  const lines = problem ? (problem.stack ?? String(problem)).split("\n").slice(0, 30) : [];
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log([...lines, `${problem ? "not ok" : "ok"} - ${name} # ${seconds} s`].join("\n"));
}

// Every scene needs the previous one: after a failure the rest fails too.
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

// One is enough here: the others are in `tests/agents/probe.mjs`, which takes minutes.
const probedName = "opencode_L23_a_probe_measures_what_it_can_do";

async function runProbe(agent) {
  const started = Date.now();
  let problem = null;
  try {
    await withProbeBench([agent], async ({ daemon }) => {
      const report = await probed(daemon, agent.name);
      const found = outcomes(report);
      for (const step of ["new", "prompt", "permission", "cancel", "kill", "resume", "load", "unknown id", "two", "end"]) {
        assert.equal(found[step], "yes", JSON.stringify(report.steps, null, 1));
      }
      assert.equal(report.rung, "resume");
    });
  } catch (error) {
    problem = error;
  }
  say(probedName, started, problem);
  return problem === null;
}

async function main(words) {
  const asked = words.filter((word) => !word.startsWith("--"));
  const wanted = (name) => asked.length === 0 || asked.some((word) => name.includes(word));
  const chosen = agents.filter((agent) => names(agent).some(wanted));
  if (words.includes("--list")) {
    return void [...chosen.flatMap(names), probedName].filter(wanted).forEach((name) => console.log(name));
  }
  console.log(`1..${[...chosen.flatMap(names), probedName].filter(wanted).length}`);
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
  const [probable] = agents.filter(({ name }) => probedName.startsWith(name));
  if (wanted(probedName) && reasons.get(probable)) console.log(`ok - ${probedName} # SKIP ${reasons.get(probable)}`);
  else if (wanted(probedName)) isGood = await runProbe(probable) && isGood;
  process.exit(isGood ? 0 : 1);
}

await main(process.argv.slice(2));
