// An editor and a browser on one session: each sees live what the other starts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { root } from "./harness/daemon.mjs";
import { log } from "./harness/transcript.mjs";
import { until } from "./harness/wait.mjs";

const program = resolve(root, process.env.PERDURE_PROGRAMS ?? "build/dev", "perdure");

// A minimal editor for this test; tests/acp has third-party ones.
class Editor {
  told = [];
  #answers = new Map();

  constructor(daemon) {
    this.process = spawn(program, ["acp", "--no-start", "--agent", "test"], { stdio: ["pipe", "pipe", "ignore"],
      env: { PATH: process.env.PATH, HOME: join(daemon.folder, "user"), PERDURE_HOME: daemon.home, LANG: "C.UTF-8",
        PERDURE_CONFIG: join(daemon.folder, "config.toml"), PERDURE_WEB_TEST: daemon.folder } });
    this.ended = new Promise((done) => this.process.on("exit", done));
    createInterface({ input: this.process.stdout }).on("line", (line) => this.#heard(JSON.parse(line)));
  }

  #heard(message) {
    if (message.method === "session/update") this.told.push(message.params.update);
    else if (!message.method) this.#answers.get(message.id)?.(message);
  }

  ask(method, params) {
    const id = this.#answers.size + 1;
    return new Promise((done, fail) => {
      this.#answers.set(id, ({ result, error }) => (error ? fail(new Error(JSON.stringify(error))) : done(result)));
      this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  text(kind = "agent_message_chunk") {
    return this.told.filter((one) => one.sessionUpdate === kind).map((one) => one.content.text).join("");
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }
}

export default function (suite) {
  suite.test("editor_and_browser_see_each_others_turns_while_they_happen", async ({ daemon, person }) => {
    const editor = new Editor(daemon);
    await editor.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await editor.ask("session/new", { cwd: join(daemon.folder, "work"), mcpServers: [] });
    const one = await person();
    await one.enter(`/s/${sessionId}`);
    const prompt = (text) => editor.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

    // Starts in the editor and is visible in the browser before it ends; the editor disconnects,
    // the turn continues.
    void prompt("say 2; permission 1; say 3").catch(() => {});
    await log(one.page).getByText("say 2; permission 1; say 3").waitFor();
    const allow = one.page.getByRole("button", { name: /^Allow once/ });
    await allow.waitFor();
    await editor.kill();
    await until(() => allow.isEnabled(), "it may be answered");
    await allow.click();
    await daemon.untilIdle(sessionId);

    // The next editor receives the whole session, and sees what the browser starts.
    const next = new Editor(daemon);
    await next.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await next.ask("session/load", { sessionId, cwd: join(daemon.folder, "work"), mcpServers: [] });
    const loaded = next.text();
    assert.match(next.text("user_message_chunk"), /say 2; permission 1; say 3/);
    await one.page.getByRole("textbox", { name: /message/i }).fill("say 4");
    await one.page.keyboard.press("Control+Enter");
    await until(() => next.text("user_message_chunk").endsWith("say 4"), "the editor is told of the browser's prompt");
    await daemon.untilIdle(sessionId);
    await until(() => next.text().length > loaded.length, "and of its answer");
    await next.kill();
  });
}
