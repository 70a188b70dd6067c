// The scenes of each real agent, in one session from its first prompt to its handover. A scene
// starts where the previous one ended, as in a user's day; the model's log shows what the agent
// really knew.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { AgentDaemon, startMs, turnMs } from "./bench.mjs";

const injectionHeader = "=== EXECUTION HISTORY ===";

const ends = (events) => events.filter(({ kind }) => /^run\.(completed|failed|cancelled|interrupted)$/.test(kind));

// The messages of the last request that matched this rule.
const lastAsked = (model, rule) => model.requests.filter((one) => one.rule === rule).at(-1);

const countOf = (request, words) =>
  request.messages.reduce((sum, { text }) => sum + text.split(words).length - 1, 0);

async function turn(stage, text, words) {
  const { daemon, session } = stage;
  await daemon.prompt(session, text);
  await daemon.untilSaid(session, words);
  await daemon.untilAtRest(session);
}

async function resume(stage, body = {}) {
  const { daemon, session } = stage;
  const answer = await daemon.api("POST", `/api/sessions/${session}/resume`, body);
  assert.ok(answer.receipt, JSON.stringify(answer));
  return answer.receipt;
}

async function agentsDie({ daemon, session }) {
  daemon.killAgents();
  await daemon.waitFor(session, ({ liveness }) => liveness === "dead", "the daemon knows that the agent is gone");
}

async function toolAndKill(stage) {
  const { daemon, model, agent } = stage;
  const cwd = join(daemon.folder, "work", agent.name);
  mkdirSync(cwd, { recursive: true });
  stage.session = (await daemon.session({ agent: agent.name, cwd, prompt: "Please do TOOLTASK now." })).id;
  const id = stage.session;
  const asked = await daemon.waitFor(id, ({ pending }) => pending.length > 0, "it asks for permission", startMs);
  const [{ perm_id: permission, options }] = asked.pending;
  assert.equal(existsSync(join(cwd, "made.txt")), false, "nothing is done before the answer");
  await daemon.kill();
  await daemon.up();
  const again = await daemon.waitFor(id, ({ pending }) => pending.length > 0, "it still asks after the restart");
  assert.equal(again.pending[0].perm_id, permission);
  const option = options.find(({ kind }) => kind === "allow_once") ?? options[0];
  await daemon.api("POST", `/api/permissions/${permission}`, { option_id: option.option_id });
  await daemon.untilSaid(id, "The tool is done");
  assert.equal(readFileSync(join(cwd, "made.txt"), "utf8"), "made-by-tool\n");
  const before = await daemon.sessionOf(id);
  await daemon.kill();
  model.release("tool");
  await daemon.up();
  await daemon.untilSaid(id, "TURN-OVER");
  const after = await daemon.untilAtRest(id);
  assert.equal(after.agent_execution_id, before.agent_execution_id, "the same agent went on");
  assert.deepEqual(ends(await daemon.events(id)).map(({ kind }) => kind), ["run.completed"]);
  assert.equal(model.requests.filter(({ rule, step }) => rule === "TOOLTASK" && step === 0).length, 1, "asked once");
}

async function cancel(stage) {
  const { daemon, session } = stage;
  await daemon.prompt(session, "Now LONGTASK please.");
  await daemon.untilSaid(session, "on and on");
  await daemon.api("POST", `/api/sessions/${session}/cancel`);
  await daemon.untilAtRest(session);
  assert.deepEqual(ends(await daemon.events(session)).map(({ kind }) => kind), ["run.completed", "run.cancelled"]);
  assert.equal((await daemon.said(session)).includes("NEVER-SAID"), false);
  await turn(stage, "Now SECONDTASK please.", "SECOND-SAID");
}

async function bestRung(stage) {
  const { daemon, model, agent, session } = stage;
  const { agent_session_id: known } = await daemon.sessionOf(session);
  await agentsDie(stage);
  const receipt = await resume(stage);
  assert.equal(receipt.rung_name, agent.rung, JSON.stringify(receipt));
  assert.equal(receipt.agent_session_id, known);
  assert.equal(receipt.inject_armed, false);
  assert.deepEqual(receipt.attempts, []);
  await turn(stage, "Now THIRDTASK please.", "THIRD-SAID");
  const request = lastAsked(model, "THIRDTASK");
  assert.ok(countOf(request, "TOOLTASK") >= 1 && countOf(request, "SECONDTASK") >= 1, "it knows its earlier turns");
  assert.equal(countOf(request, injectionHeader), 0, "nobody had to tell it");
}

async function unknownId(stage) {
  const { daemon, model, agent, session } = stage;
  await agentsDie(stage);
  daemon.forget(agent);
  const receipt = await resume(stage);
  assert.equal(receipt.rung_name, "inject", JSON.stringify(receipt));
  assert.equal(receipt.inject_armed, true);
  assert.equal(receipt.attempts.at(-1)?.failure, "session_unknown", JSON.stringify(receipt.attempts));
  await turn(stage, "Now FOURTHTASK please.", "FOURTH-SAID");
  const first = lastAsked(model, "FOURTHTASK");
  assert.equal(countOf(first, injectionHeader), 1);
  assert.ok(countOf(first, "SECOND-SAID") >= 1, "what was said is in the history");
  await turn(stage, "Now FIFTHTASK please.", "FIFTH-SAID");
  assert.equal(countOf(lastAsked(model, "FIFTHTASK"), injectionHeader), 1, "it is not told a second time");
  assert.equal((await daemon.events(session, "context.injected")).length, 1);
  const shown = (await daemon.transcript(session)).filter(({ role }) => role === "user");
  assert.equal(shown.some(({ content }) => content.includes(injectionHeader)), false, "C12: no bubble shows it");
}

async function handOver(stage) {
  const { daemon, model, session, next } = stage;
  const receipt = await resume(stage, { with: next.name });
  assert.equal(receipt.how, "handover", JSON.stringify(receipt));
  assert.equal((await daemon.sessionOf(session)).agent, next.name);
  const before = model.requests.length;
  await daemon.prompt(session, "And once more SECONDTASK please.");
  const request = await model.seen((one) => one.n > before && one.rule === "SECONDTASK", "by the next agent", turnMs);
  await daemon.untilAtRest(session);
  assert.equal(countOf(request, injectionHeader), 1);
  assert.ok(countOf(request, "FIFTH-SAID") >= 1, "the next agent knows what the one before said");
}

// Another daemon without any records: all it has is the agent's own data on disk.
async function adopt(stage) {
  const { daemon, model, agent } = stage;
  const other = await AgentDaemon.start({ agents: [agent], model, homes: daemon.folder });
  try {
    const lines = other.run(agent, ["adopt", "--agent", agent.name, "--all", "--json"]).trim().split("\n").map((line) => JSON.parse(line));
    const again = other.run(agent, ["adopt", "--agent", agent.name, "--all", "--json"]).trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(again.map(({ session_id: id }) => id), lines.map(({ session_id: id }) => id));
    assert.equal(again.some(({ adopted }) => adopted), false, "a second time nothing is new");
    const sessions = await Promise.all(lines.map(async ({ session_id: id }) => ({ id, said: await other.said(id) })));
    const found = sessions.find(({ said }) => said.includes("FIFTH-SAID"));
    assert.ok(found, `none of ${JSON.stringify(lines)} holds the last answer`);
    const there = { daemon: other, session: found.id };
    const receipt = await resume(there);
    assert.equal(receipt.rung_name, agent.rung, JSON.stringify(receipt));
    await turn(there, "Now THIRDTASK please.", "THIRD-SAID");
    const request = lastAsked(model, "THIRDTASK");
    assert.ok(countOf(request, "FIFTHTASK") >= 1, "the agent knows what it did before it was adopted");
  } finally {
    await other.stop();
  }
}

export const scenes = [
  ["G5_G7_a_tool_is_asked_for_and_the_turn_survives_two_kills_of_the_daemon", toolAndKill],
  ["X4_a_cancel_in_the_middle_of_a_turn_ends_it_once", cancel],
  ["K3_agentctl_is_killed_and_the_best_rung_serves", bestRung],
  ["K29_K30_an_unknown_id_leads_to_one_injection", unknownId],
  ["C12_a_handover_tells_the_next_agent_once", handOver],
  ["K38_its_own_files_are_adopted_by_another_daemon_and_gone_on_with", adopt],
];
