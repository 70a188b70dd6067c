// A model that follows a scenario, in the API formats of four vendors, on loopback. Every request
// is one JSON line of the log, so that a test can count how often the model received something.
//
//   node server.mjs SCENARIO.json [LOG.jsonl]     prints its address, and serves until it is ended
import { appendFileSync } from "node:fs";
import http from "node:http";
import { pathToFileURL } from "node:url";

import { apis } from "./apis.mjs";
import { checkScenario, choose, readScenario, toolFor } from "./scenario.mjs";

const bodyBytesMax = 64 << 20;

function readBody(request) {
  return new Promise((done, fail) => {
    const parts = [];
    let bytes = 0;
    request.on("data", (part) => {
      bytes += part.length;
      if (bytes > bodyBytesMax) request.destroy(new Error("a body is longer than 64 MiB"));
      else parts.push(part);
    });
    request.on("end", () => done(Buffer.concat(parts).toString("utf8")));
    request.on("error", fail);
  });
}

export class ModelServer {
  requests = [];

  constructor(scenario, log = null) {
    this.scenario = checkScenario(scenario);
    this.log = log;
    this.holds = new Map();
    this.watchers = new Set();
    this.server = http.createServer((request, answer) => {
      this.serve(request, answer).catch((error) => {
        if (!answer.headersSent) answer.writeHead(500, { "Content-Type": "application/json" });
        answer.end(JSON.stringify({ error: { message: String(error) } }));
      });
    });
  }

  static async start(scenario, log) {
    const server = new ModelServer(scenario, log);
    await new Promise((done, fail) => {
      server.server.on("error", fail);
      server.server.listen(0, "127.0.0.1", done);
    });
    server.origin = `http://127.0.0.1:${server.server.address().port}`;
    return server;
  }

  stop() {
    this.release();
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }

  hold(name) {
    if (!this.holds.has(name)) {
      const hold = { isOver: false };
      hold.over = new Promise((done) => {
        hold.release = () => ((hold.isOver = true), done());
      });
      this.holds.set(name, hold);
    }
    return this.holds.get(name);
  }

  // Releases requests that wait at this hold, and later ones; without a name, at every hold.
  release(name) {
    for (const [one, hold] of this.holds) if (name === undefined || one === name) hold.release();
    if (name !== undefined) this.hold(name).release();
  }

  // The hold applies to later requests again.
  arm(name) {
    this.holds.delete(name);
  }

  record(entry) {
    this.requests.push(entry);
    if (this.log) appendFileSync(this.log, `${JSON.stringify(entry)}\n`);
    this.watchers.forEach((watch) => watch());
  }

  // The first matching request, now or within the time.
  seen(isIt, what, ms = 30_000) {
    return new Promise((done, fail) => {
      const look = () => {
        const found = this.requests.find(isIt);
        if (!found) return;
        this.watchers.delete(look);
        clearTimeout(timer);
        done(found);
      };
      const timer = setTimeout(() => {
        this.watchers.delete(look);
        fail(new Error(`the model was never asked: ${what}`));
      }, ms);
      this.watchers.add(look);
      look();
    });
  }

  async serve(request, answer) {
    const path = request.url.split("?")[0];
    const text = await readBody(request);
    const api = request.method === "POST" ? apis.find((one) => one.isMine(path)) : undefined;
    if (!api) return this.serveBeside(path, answer);
    const asked = { api: api.name, ...api.read(JSON.parse(text), path) };
    const { rule, number, step } = choose(this.scenario, asked);
    const n = this.requests.length + 1;
    this.record({ n, api: asked.api, model: asked.model, rule, step: number, messages: asked.messages,
      tools: asked.tools.map(({ name }) => name) });
    if (step.status) return fail(api, step, answer);
    const out = api.write(sink(answer), { model: asked.model, id: `fake_${n}` });
    const reply = { text: step.echo ? echo(asked) : step.recall ? recall(asked, step.recall) : step.text ?? "",
      tool: null, reason: "end" };
    if (step.tool) {
      const tool = toolFor(step, asked.tools);
      if (tool) Object.assign(reply, { tool: { ...tool, call: `call_${n}` }, reason: "tool" });
      else reply.text = `There is no shell among ${asked.tools.map(({ name }) => name).join(" ")}`;
    }
    if (!asked.isStream) {
      answer.writeHead(200, { "Content-Type": "application/json" });
      return answer.end(JSON.stringify(out.whole(reply)));
    }
    await this.stream(out, reply, step, answer);
  }

  async stream(out, reply, step, answer) {
    answer.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
    out.begin();
    const words = step.word_ms ? reply.text.match(/\S+\s*/g) ?? [] : [reply.text];
    for (const word of words) {
      if (answer.destroyed) return;
      if (word) out.text(word);
      if (step.word_ms) await new Promise((done) => setTimeout(done, step.word_ms));
    }
    if (step.hold) {
      await this.hold(step.hold).over;
      if (step.then) out.text(step.then);
    }
    if (reply.tool) out.tool(reply.tool);
    out.end(reply.reason);
    answer.end();
  }

  // Other endpoints that programs use.
  serveBeside(path, answer) {
    const found = path.endsWith("/count_tokens") ? { input_tokens: 10 }
      : path.endsWith(":countTokens") ? { totalTokens: 10 }
        : path.endsWith("/models") ? { object: "list", data: [{ id: "fake-1", object: "model" }], models: [] } : null;
    answer.writeHead(found ? 200 : 404, { "Content-Type": "application/json" });
    answer.end(JSON.stringify(found ?? { error: { message: `nothing at ${path}` } }));
  }
}

const sink = (answer) => ({
  raw: (text) => answer.write(text),
  event: (value, name) => answer.write(`${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(value)}\n\n`),
});

const echo = ({ messages }) => messages.map(({ role, text }) => `${role}: ${text}`).join("\n");

const recall = ({ messages }, pattern) =>
  messages.filter(({ role }) => role === "user").map(({ text }) => new RegExp(pattern).exec(text)?.[0]).find(Boolean) ?? "Nobody has said that.";

function fail(api, step, answer) {
  const resetSeconds = step.reset_s ?? 60;
  const headers = { "Content-Type": "application/json" };
  if (step.status === 429) {
    headers["Retry-After"] = String(resetSeconds);
    headers["anthropic-ratelimit-unified-reset"] = String(Math.floor(Date.now() / 1000) + resetSeconds);
    headers["x-ratelimit-reset-requests"] = `${resetSeconds}s`;
  }
  answer.writeHead(step.status, headers);
  answer.end(JSON.stringify(api.error({ status: step.status, resetSeconds,
    message: step.message ?? (step.status === 429 ? "Rate limit reached" : "The scenario says that this fails") })));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const server = await ModelServer.start(readScenario(process.argv[2]), process.argv[3]);
  console.log(server.origin);
}
