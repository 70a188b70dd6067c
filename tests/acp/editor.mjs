// A test editor: the SDK's own client, which validates what it receives, on `perdure acp` or on the
// daemon's /acp. Every message that Perdure prints is also checked against the published schema.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

import { check } from "../../tools/acp_schema.mjs";
import { root } from "../web/harness/daemon.mjs";
import { until } from "../web/harness/wait.mjs";

const programs = join(root, process.env.PERDURE_PROGRAMS ?? "build/dev");
export const program = join(programs, "perdure");

export function environment(daemon) {
  return { PATH: process.env.PATH, HOME: join(daemon.folder, "user"), PERDURE_HOME: daemon.home, LANG: "C.UTF-8",
    PERDURE_CONFIG: join(daemon.folder, "config.toml"), PERDURE_WEB_TEST: daemon.folder };
}

// Perdure's output, checked; `asked` are the methods of the requests that it answers.
export class Wire {
  problems = [];
  lines = [];
  asked = new Map();

  constructor(schemas) {
    this.schemas = schemas;
  }

  sent(text) {
    const message = JSON.parse(text);
    if (message.method && message.id !== undefined) this.asked.set(JSON.stringify(message.id), message.method);
  }

  got(text) {
    const message = JSON.parse(text);
    this.lines.push(message);
    const answers = message.method ? undefined : this.asked.get(JSON.stringify(message.id));
    const isUnstable = answers === "session/fork";
    const errors = check({ message, answers }, this.schemas[isUnstable ? "v1.unstable" : "v1"]);
    if (errors.length > 0) this.problems.push(`${text}\n${JSON.stringify(errors)}`);
  }
}

// Passes a byte stream on and shows every line of it to `look`.
function watched(look) {
  let rest = "";
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop();
      lines.filter(Boolean).forEach(look);
      controller.enqueue(chunk);
    },
  });
}

export class Editor {
  updates = [];
  questions = [];

  // `answer` receives a question and returns an option's id, or nothing to leave it open.
  static async start({ daemon, sdk, schemas, words = ["--no-start", "--agent", "test"], answer = () => undefined, files }) {
    const editor = new Editor();
    editor.process = spawn(program, ["acp", ...words], { env: environment(daemon), stdio: ["pipe", "pipe", "pipe"] });
    editor.ended = new Promise((done) => editor.process.on("exit", (code, signal) => done({ code, signal })));
    editor.stderr = "";
    editor.process.stderr.on("data", (bytes) => { editor.stderr += bytes; });
    editor.process.stdin.on("error", () => {});
    const wire = new Wire(schemas);
    const out = watched((line) => wire.sent(line));
    out.readable.pipeTo(Writable.toWeb(editor.process.stdin)).catch(() => {});
    const into = Readable.toWeb(editor.process.stdout).pipeThrough(watched((line) => wire.got(line)));
    await editor.begin(sdk, sdk.ndJsonStream(out.writable, into), wire, answer, files);
    return editor;
  }

  static async overWebSocket({ daemon, sdk, schemas, query = "agent=test", answer = () => undefined, files }) {
    const editor = new Editor();
    const token = readFileSync(join(daemon.home, "token"), "utf8").trim();
    const socket = new WebSocket(`ws://127.0.0.1:${daemon.port}/acp?${query}`, { headers: { Authorization: `Bearer ${token}` } });
    await new Promise((done, fail) => {
      socket.onopen = done;
      socket.onerror = () => fail(new Error("the socket was refused"));
    });
    const wire = new Wire(schemas);
    const readable = new ReadableStream({
      start(controller) {
        socket.onmessage = ({ data }) => {
          wire.got(data);
          controller.enqueue(JSON.parse(data));
        };
        socket.onclose = () => controller.close();
      },
    });
    const writable = new WritableStream({
      write(message) {
        // newlines between tokens must not matter within a frame
        const text = JSON.stringify(message, null, 1);
        wire.sent(text);
        socket.send(text);
      },
    });
    editor.socket = socket;
    await editor.begin(sdk, { readable, writable }, wire, answer, files);
    return editor;
  }

  // `files`, a Map from path to open text, makes an editor that lends its files.
  async begin(sdk, stream, wire, answer, files) {
    this.wire = wire;
    let client = sdk.client({ name: "test-editor" });
    if (files) {
      client = client.onRequest("fs/read_text_file", ({ params }) => ({ content: files.get(params.path) ?? "" }))
        .onRequest("fs/write_text_file", ({ params }) => {
          files.set(params.path, params.content);
          return {};
        });
    }
    this.connection = client
      .onNotification("session/update", ({ params }) => { this.updates.push(params); })
      .onRequest("session/request_permission", async ({ params, signal }) => {
        this.questions.push(params);
        const optionId = answer(params);
        if (optionId) return { outcome: { outcome: "selected", optionId } };
        await new Promise((done) => signal?.addEventListener("abort", done));
        return { outcome: { outcome: "cancelled" } };
      })
      .connect(stream);
    this.agent = this.connection.agent;
    this.abilities = await this.agent.request("initialize", { protocolVersion: 1,
      clientCapabilities: files ? { fs: { readTextFile: true, writeTextFile: true } } : {} });
  }

  create(cwd, more = {}) {
    return this.agent.request("session/new", { cwd, mcpServers: [], ...more });
  }
  prompt(sessionId, text) {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }
  load(sessionId, cwd) {
    return this.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  }

  // Updates of one session and kind, in order.
  of(sessionId, kind) {
    return this.updates.filter((one) => one.sessionId === sessionId && one.update.sessionUpdate === kind)
      .map((one) => one.update);
  }
  text(sessionId, kind = "agent_message_chunk") {
    return this.of(sessionId, kind).map((update) => update.content.text ?? "").join("");
  }
  untilText(sessionId, part) {
    return until(() => this.text(sessionId).includes(part), `the editor is told ${part}`, 20_000);
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }
  async close() {
    if (this.socket) return this.socket.close();
    this.process.stdin.end();
    return this.ended;
  }
}
