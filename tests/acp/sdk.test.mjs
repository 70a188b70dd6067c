// The SDK's client on `perdure acp`: the editor's view while either side is killed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { until } from "../web/harness/wait.mjs";
import { environment, program } from "./editor.mjs";

const allow = (question) => question.options.find((option) => option.kind === "allow_once").optionId;
// The chunk numbers of a prompt, in the order received.
const numbers = (text, prompt) => [...text.matchAll(new RegExp(`<p${prompt}:(\\d+)>`, "g"))].map((match) => Number(match[1]));
const upTo = (count) => Array.from({ length: count }, (_, at) => at + 1);

export default function (test) {
  test("U9_a_session_with_a_question_is_there_again_after_a_kill_of_the_editor", async ({ daemon, work, editor }) => {
    const first = await editor({ answer: allow });
    assert.equal(first.abilities.agentCapabilities.loadSession, true);
    const { sessionId, configOptions, modes, _meta } = await first.create(work);
    assert.deepEqual(configOptions.map((option) => option.category).sort(), ["mode", "model"]);
    assert.equal(modes.currentModeId, "ask");
    assert.equal(_meta.perdure.agent, "test");
    const { stopReason } = await first.prompt(sessionId, "think 1; say 2; plan; tool 1; permission 1; usage 5; title Named");
    assert.equal(stopReason, "end_turn");
    assert.equal(first.questions.length, 1);
    const live = first.updates.filter((one) => one.sessionId === sessionId).map((one) => one.update);
    await first.kill();

    const second = await editor();
    const listed = await second.agent.request("session/list", {});
    assert.deepEqual(listed.sessions.map((one) => one.sessionId), [sessionId]);
    await second.load(sessionId, work);
    const told = second.updates.map((one) => one.update);
    const conversation = (all) => all.filter((one) => /^(agent_|tool_call|plan|usage)/.test(one.sessionUpdate));
    assert.deepEqual(conversation(told), conversation(live), "the replay is what was told live");
    assert.equal(second.text(sessionId, "user_message_chunk"), "think 1; say 2; plan; tool 1; permission 1; usage 5; title Named");
    for (const kind of ["agent_thought_chunk", "plan", "usage_update", "available_commands_update", "config_option_update"]) {
      if (kind !== "available_commands_update") assert.ok(second.of(sessionId, kind).length > 0, kind);
    }
    assert.equal((await second.prompt(sessionId, "say 1")).stopReason, "end_turn");
    assert.equal((await daemon.events(sessionId, "run.completed")).length, 2);
  });

  test("U2_detaching_in_mid_turn_cancels_nothing_and_leaves_the_question_open", async ({ daemon, work, editor }) => {
    for (const leave of ["kill", "close"]) {
      const one = await editor();
      const { sessionId } = await one.create(work);
      one.prompt(sessionId, "paced 10 30; permission 1; say 1").catch(() => {});
      await one.untilText(sessionId, "<p1:2>");
      await one[leave]();
      await daemon.until(sessionId, (session) => session.pending.length === 1, "the turn went on to its question");
      const back = await editor({ answer: allow });
      await back.load(sessionId, work);
      await daemon.untilIdle(sessionId);
      assert.equal((await daemon.events(sessionId, "run.completed")).length, 1, leave);
      assert.equal((await daemon.events(sessionId, "run.cancelled")).length, 0, leave);
    }
  });

  test("G5_STREAM1_a_kill_of_the_daemon_in_mid_turn_is_not_seen", async ({ daemon, work, editor }) => {
    const one = await editor();
    const { sessionId } = await one.create(work);
    const turn = one.prompt(sessionId, "paced 60 40");
    for (const at of [5, 20]) {
      await one.untilText(sessionId, `<p1:${at}>`);
      await daemon.restart();
    }
    assert.equal((await turn).stopReason, "end_turn");
    assert.deepEqual(numbers(one.text(sessionId), 1), upTo(60), "no update is lost or doubled");
    assert.equal((await one.prompt(sessionId, "say 1")).stopReason, "end_turn");
  });

  test("D4_a_daemon_that_nobody_starts_again_is_started_for_the_turn_that_waits", async ({ daemon, work, editor }) => {
    const one = await editor({ words: ["--agent", "test"] });
    const { sessionId } = await one.create(work);
    const turn = one.prompt(sessionId, "paced 30 40");
    await one.untilText(sessionId, "<p1:3>");
    await daemon.kill();
    assert.equal((await turn).stopReason, "end_turn");
    assert.deepEqual(numbers(one.text(sessionId), 1), upTo(30));
  });

  test("ACK1_ACK2_a_prompt_of_a_time_without_a_daemon_is_delivered_once", async ({ daemon, work, editor }) => {
    const one = await editor();
    const { sessionId } = await one.create(work);
    await daemon.kill();
    const turn = one.prompt(sessionId, "say 2");
    await daemon.up();
    assert.equal((await turn).stopReason, "end_turn");
    assert.deepEqual(numbers(one.text(sessionId), 1), [1, 2]);
    assert.equal((await daemon.events(sessionId, "message.user")).length, 1);
  });

  test("N5_TOK3_two_editors_see_one_session_and_the_first_answer_counts", async ({ daemon, work, editor }) => {
    const answers = [];
    const first = await editor({ answer: () => undefined });
    const { sessionId } = await first.create(work);
    const second = await editor({ answer: (question) => { answers.push(question); return allow(question); } });
    await second.agent.request("session/resume", { sessionId, cwd: work, mcpServers: [] });
    const { stopReason } = await first.prompt(sessionId, "say 1; permission 1; say 1");
    assert.equal(stopReason, "end_turn");
    assert.equal(answers.length, 1);
    assert.equal(first.questions.length, 1);
    const taken = first.wire.lines.filter((line) => line.method === "$/cancel_request");
    assert.equal(taken.length, 1, "the other editor's question is taken back");
    await second.untilText(sessionId, "<p1:end=");
    assert.equal(second.text(sessionId, "user_message_chunk"), "say 1; permission 1; say 1");
    assert.equal(first.text(sessionId, "user_message_chunk"), "", "its own prompt is not told to it");
    assert.equal(first.text(sessionId), second.text(sessionId));
  });

  test("C23_a_prompt_behind_a_turn_of_another_client_is_answered_by_its_own_end", async ({ daemon, work, editor }) => {
    const one = await editor();
    const { sessionId } = await one.create(work);
    await daemon.api("POST", `/api/sessions/${sessionId}/prompt`, { text: "paced 10 50" });
    assert.equal((await one.prompt(sessionId, "say 1; stop refusal")).stopReason, "refusal");
    assert.deepEqual(numbers(one.text(sessionId), 1), upTo(10), "the turn of the other one was told");
    assert.equal(one.text(sessionId, "user_message_chunk"), "paced 10 50");
  });

  test("RUN5_cancel_ends_the_turn_and_takes_back_what_only_waits", async ({ daemon, work, editor }) => {
    const one = await editor();
    const { sessionId } = await one.create(work);
    const running = one.prompt(sessionId, "say 1; hang");
    await one.untilText(sessionId, "<p1:1>");
    await one.agent.notify("session/cancel", { sessionId });
    assert.equal((await running).stopReason, "cancelled");

    await daemon.api("POST", `/api/sessions/${sessionId}/prompt`, { text: "paced 20 50" });
    const waiting = one.prompt(sessionId, "say 9");
    await daemon.until(sessionId, (session) => session.queue.length === 1, "it waits");
    await one.agent.notify("session/cancel", { sessionId });
    assert.equal((await waiting).stopReason, "cancelled");
    await daemon.untilIdle(sessionId);
    assert.equal((await daemon.events(sessionId, "run.completed")).length, 1, "the turn of the other one went on");
  });

  test("X14_modes_options_forks_and_what_is_not_there", async ({ work, editor }) => {
    const one = await editor();
    const { sessionId, configOptions } = await one.create(work);
    await one.agent.request("session/set_mode", { sessionId, modeId: "auto" });
    await until(() => one.of(sessionId, "current_mode_update").some((update) => update.currentModeId === "auto"), "the mode is told");
    const model = configOptions.find((option) => option.category === "model");
    const other = model.options.find((choice) => choice.value !== model.currentValue).value;
    const set = await one.agent.request("session/set_config_option", { sessionId, configId: model.id, value: other });
    assert.equal(set.configOptions.find((option) => option.id === model.id).currentValue, other);
    await assert.rejects(one.agent.request("session/set_mode", { sessionId, modeId: "none" }), { code: -32602 });
    await one.prompt(sessionId, "say 1");
    const copy = await one.agent.request("session/fork", { sessionId, cwd: work, mcpServers: [] });
    assert.notEqual(copy.sessionId, sessionId);
    assert.equal((await one.prompt(copy.sessionId, "say 2")).stopReason, "end_turn");
    await one.agent.request("session/close", { sessionId });
    await assert.rejects(one.prompt(sessionId, "say 1"), { code: -32002 });
    await assert.rejects(one.load("sess_01ka3qq5rk000000000000000a", work), { code: -32002 });
    await assert.rejects(one.agent.request("session/new", { cwd: "/there/is/no/such", mcpServers: [] }), { code: -32602 });
    await assert.rejects(one.agent.request("session/dance", {}), { code: -32601 });
  });

  test("R1_an_agent_that_lost_its_memory_is_said_to_and_the_next_prompt_brings_it_back", async ({ daemon, work, editor }) => {
    const one = await editor({ words: ["--no-start", "--agent", "forgetful"] });
    const { sessionId } = await one.create(work);
    await one.prompt(sessionId, "say 1");
    const keep = new Set([daemon.process.pid, one.process.pid]);
    const [ready] = await daemon.events(sessionId, "executor.ready");
    assert.ok(!keep.has(ready.pid));
    process.kill(ready.pid, "SIGKILL");
    await daemon.until(sessionId, (session) => session.liveness === "dead", "the agent is gone");
    assert.equal((await one.prompt(sessionId, "say 1")).stopReason, "end_turn");
    assert.match(one.text(sessionId), /\[Perdure\] The agent started fresh/);
  });

  test("P3_a_turn_that_fails_or_loses_its_agent_is_an_error_that_says_why", async ({ work, editor }) => {
    const one = await editor();
    const { sessionId } = await one.create(work);
    await assert.rejects(one.prompt(sessionId, "error -32603 the model is out"), /the model is out/);
    await assert.rejects(one.prompt(sessionId, "say 1; crash kill"), /turn (failed|was interrupted)/);
    assert.equal((await one.prompt(sessionId, "say 1")).stopReason, "end_turn", "the next prompt brings the agent back");
  });

  test("P7_an_update_of_400_kB_is_told_whole_live_and_again", async ({ work, editor }) => {
    const one = await editor();
    const { sessionId } = await one.create(work);
    await one.prompt(sessionId, "chunks 2 400000");
    const live = one.text(sessionId);
    assert.ok(live.length > 800_000);
    const again = await editor();
    await again.load(sessionId, work);
    assert.equal(again.text(sessionId), live);
  });

  test("L24_an_editor_gives_the_agent_what_is_typed_and_not_saved", async ({ daemon, work, editor }) => {
    const path = join(work, "open.txt");
    writeFileSync(path, "as saved");
    const files = new Map([[path, "as typed"]]);
    const one = await editor({ answer: allow, files });
    const { sessionId } = await one.create(work);
    const ask = (method, params) => `permission 1; call ${method} ${JSON.stringify(params)}`;
    await one.prompt(sessionId, ask("fs/read_text_file", { path }));
    assert.match(one.text(sessionId), /as typed/);
    await one.prompt(sessionId, ask("fs/write_text_file", { path, content: "by the agent" }));
    assert.equal(files.get(path), "by the agent");
    assert.equal(readFileSync(path, "utf8"), "as saved", "the editor saves it, not we");
    await one.prompt(sessionId, ask("fs/read_text_file", { path: "/etc/hostname" }));
    assert.equal(one.wire.lines.some(({ params }) => params?.path === "/etc/hostname"), false, "that is not the workspace's");
    await one.close();
    await daemon.api("POST", `/api/sessions/${sessionId}/prompt`, { text: `call fs/read_text_file ${JSON.stringify({ path })}` });
    await until(async () => (await daemon.events(sessionId, "run.completed")).length === 4, "the turn is over", 40_000);
    const said = (await daemon.transcript(sessionId)).map(({ content }) => content).join("\n");
    assert.match(said, /as saved/, "without an editor the workspace serves it");
  });

  test("U9_a_given_session_comes_with_its_history_where_a_new_one_was_asked_for", async ({ daemon, work, editor }) => {
    const { id } = await daemon.session({ agent: "test", cwd: work, title: "given", prompt: "say 2" });
    await daemon.untilIdle(id);
    const one = await editor({ words: ["--no-start", "--session", "given"] });
    assert.equal((await one.create(work)).sessionId, id);
    await one.untilText(id, "<p1:end=2>");
    assert.deepEqual(numbers(one.text(id), 1), [1, 2]);
  });

  test("STREAM4_an_editor_that_does_not_read_loses_nothing_and_delays_nobody", async ({ daemon, work }) => {
    const child = spawn(program, ["acp", "--no-start", "--agent", "test"], { env: environment(daemon), stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise((done) => child.on("exit", done));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (id, method, params) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const message = JSON.parse((await lines.next()).value);
        if (message.id === id) return message.result;
      }
    };
    const { sessionId } = await ask(1, "session/new", { cwd: work, mcpServers: [] });
    const bytes = 24 << 20;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "session/prompt",
      params: { sessionId, prompt: [{ type: "text", text: `flood ${bytes}` }] } })}\n`);
    await daemon.until(sessionId, (session) => session.last_run?.end === "completed", "the turn ended without a reader");
    let length = 0;
    for (;;) {
      const message = JSON.parse((await lines.next()).value);
      if (message.id === 2) break;
      if (message.params.update.sessionUpdate === "agent_message_chunk") length += message.params.update.content.text.length;
    }
    assert.ok(length >= bytes, `${length} of ${bytes}`);
    child.stdin.end();
    assert.equal(await ended, 0);
  });
}
