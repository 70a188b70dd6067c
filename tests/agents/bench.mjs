// A daemon with real agents, each with its own home, and the model that all of them use.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { ModelServer } from "../e2e/model-server/server.mjs";
import { readScenario } from "../e2e/model-server/scenario.mjs";
import { installed } from "../../tools/npm_cache.mjs";
import { Daemon } from "../web/harness/daemon.mjs";
import { until } from "../web/harness/wait.mjs";
import { node } from "./table.mjs";

export const startMs = 90_000; // for an agent to start and open a session on a busy machine
export const turnMs = 60_000;

// Returns why an agent is unavailable, or null. An installed agent is not looked up in the registry
// again.
export function install(agent) {
  try {
    const bin = node.bin(installed(node.folder, node.packages).cache);
    const { cache } = installed(`agents/${agent.name}`, agent.packages);
    Object.assign(agent, { nodeBin: bin, modules: join(cache, "node_modules") });
    return null;
  } catch (error) {
    return `cannot be installed from npm: ${String(error.message).split("\n")[0]}`;
  }
}

export class AgentDaemon extends Daemon {
  environments = new Map();

  // `homes`: the folder of the agents' homes, if not this daemon's own.
  config({ agents, model, homes = this.folder }) {
    this.model = model;
    this.homes = homes;
    const lines = [];
    for (const agent of agents) {
      const home = this.homeOf(agent);
      mkdirSync(home, { recursive: true });
      agent.prepare(home, model.origin);
      const env = { HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_DATA_HOME: join(home, "share"),
        XDG_STATE_HOME: join(home, "state"), XDG_CACHE_HOME: join(home, "cache"),
        PATH: `${agent.nodeBin}:${process.env.PATH}`, ...agent.env(home, model.origin) };
      this.environments.set(agent.name, env);
      lines.push(`[agents.${agent.name}]`, `command = ${JSON.stringify(agent.command(agent.modules))}`,
        `env = { ${Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(", ")} }`);
    }
    return `${lines.join("\n")}\n`;
  }

  homeOf(agent) {
    return join(this.homes, "agent", agent.name);
  }

  // Runs the command line in an agent's environment; returns its output.
  run(agent, words) {
    const env = { ...this.environments.get(agent.name), PERDURE_HOME: this.home };
    return execFileSync(this.program("perdure"), words, { env, encoding: "utf8", timeout: turnMs });
  }

  forget(agent) {
    for (const path of agent.forget) rmSync(join(this.homeOf(agent), path), { recursive: true, force: true });
    agent.prepare(this.homeOf(agent), this.model.origin);
  }

  async said(id) {
    return (await this.transcript(id)).filter(({ role }) => role === "assistant").map(({ content }) => content).join("\n");
  }

  async prompt(id, text) {
    return this.api("POST", `/api/sessions/${id}/prompt`, { text });
  }

  untilSaid(id, words) {
    return until(async () => (await this.said(id)).includes(words), `the agent says ${words}`, turnMs);
  }

  untilAtRest(id) {
    return this.waitFor(id, ({ status, run, queue_length: queued }) => status === "idle" && !run && !queued, "no turn is under way");
  }

  async waitFor(id, condition, what, ms = turnMs) {
    let session = null;
    try {
      await until(async () => condition(session = await this.sessionOf(id)), what, ms);
    } catch (error) {
      const { status, state, error_message: trouble, last_run: last } = session ?? {};
      throw new Error(`${error.message}; the session is ${JSON.stringify({ status, state, trouble, last })}`);
    }
    return session;
  }
}

export async function startBench(agents, scenario) {
  const model = await ModelServer.start(readScenario(scenario));
  const daemon = await AgentDaemon.start({ agents, model });
  return { model, daemon, end: async () => {
    await daemon.stop();
    await model.stop();
  } };
}
