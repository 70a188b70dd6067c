// acpx, a third-party headless client: it keeps the session that it created, and finds it again.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { environment, program } from "./editor.mjs";

function run({ node, program: acpx }, daemon, words) {
  const home = join(daemon.folder, "acpx");
  mkdirSync(home, { recursive: true });
  const child = spawn(node, [acpx, "--agent", `${program} acp --no-start --agent test`, "--cwd", join(daemon.folder, "work"), ...words], {
    env: { ...environment(daemon), HOME: home, PATH: `${join(node, "..")}:${process.env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (bytes) => { output += bytes; });
  child.stderr.on("data", (bytes) => { output += bytes; });
  return new Promise((done) => child.on("exit", (code) => done({ code, output })));
}

export default function (test) {
  test("U9_acpx_makes_a_session_and_its_question_is_answered", async ({ daemon, acpx }) => {
    const { code, output } = await run(acpx, daemon, ["--approve-all", "--format", "json", "exec", "say 2; permission 1; tool 1"]);
    assert.equal(code, 0, output);
    assert.match(output, /<p1:end=/);
    const { sessions } = await daemon.api("GET", "/api/sessions");
    assert.equal(sessions.length, 1);
    assert.equal((await daemon.events(sessions[0].id, "permission.resolved"))[0].outcome, "selected");
    assert.equal((await daemon.events(sessions[0].id, "run.completed")).length, 1);
  });

  test("U9_acpx_comes_back_to_its_session_after_a_kill_of_everything_of_its_own", async ({ daemon, acpx }) => {
    const made = await run(acpx, daemon, ["sessions", "new"]);
    assert.equal(made.code, 0, made.output);
    const first = await run(acpx, daemon, ["--approve-all", "prompt", "say 1"]);
    assert.match(first.output, /<p1:end=1>/);
    const { sessions } = await daemon.api("GET", "/api/sessions");
    const id = sessions[0].id;
    const [ready] = await daemon.events(id, "executor.ready");
    // Kills acpx's owner and `perdure acp`; the daemon, the agent and its agentctl survive.
    const { killed } = daemon.killWhere((words) => words.includes("acpx") || / acp /.test(words));
    assert.ok(killed > 0, "something of acpx's was alive");
    const second = await run(acpx, daemon, ["--approve-all", "prompt", "say 1"]);
    assert.match(second.output, /<p2:end=1>/, second.output);
    assert.equal((await daemon.api("GET", "/api/sessions")).sessions.length, 1, "it made no second session");
    assert.equal((await daemon.events(id, "executor.ready")).at(-1).pid, ready.pid, "the agent never noticed");
  });
}
