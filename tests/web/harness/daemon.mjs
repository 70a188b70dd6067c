// A real daemon for one test, with its own folder, port and agents. It can be killed at any moment
// and restarted on the same port; all of its remaining processes are ended with the test.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { until } from "./wait.mjs";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const programs = resolve(root, process.env.PERDURE_PROGRAMS ?? "build/dev");

function freePort() {
  return new Promise((done, fail) => {
    const server = net.createServer();
    server.on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

// Every process with the folder in its environment, with any parent.
function processesOf(folder) {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, "latin1").includes(folder);
    } catch {
      return false;
    }
  }).map(Number).filter((pid) => pid !== process.pid);
}

export class Daemon {
  static async start(setup = {}) {
    const daemon = new this();
    daemon.folder = mkdtempSync(join(tmpdir(), "perdure-web-"));
    daemon.home = join(daemon.folder, "home");
    for (const name of ["home", "user", "agent", "work"]) mkdirSync(join(daemon.folder, name));
    chmodSync(daemon.home, 0o700);
    daemon.port = await freePort();
    daemon.origin = `http://127.0.0.1:${daemon.port}`;
    writeFileSync(join(daemon.folder, "config.toml"), daemon.config(setup));
    try {
      await daemon.up();
    } catch (error) {
      const output = daemon.output();
      await daemon.stop();
      throw new Error(`${error.message}\n${output}`);
    }
    return daemon;
  }

  // Agents: `test` behaves, `forgetful` cannot resume, and the setup's own as name -> switches, or
  // a command. `names` are additional host names of the daemon.
  config(setup) {
    const agents = { test: {}, forgetful: { switches: ["no_load", "no_resume"], lines: [
      "supports_session_resume = false", "native_session_resume = false"] }, ...setup.agents };
    const names = (setup.names ?? []).map((name) => `http://${name}:${this.port}`);
    const lines = [...(names.length > 0 ? [`public_urls = ${JSON.stringify(names)}`] : []), ...(setup.lines ?? [])];
    for (const [name, { switches = [], lines: more = [], command }] of Object.entries(agents)) {
      const home = join(this.folder, "agent", name);
      mkdirSync(home);
      const words = command ? [...command] : [join(programs, "perdure-testagent"), "--home", home];
      for (const one of switches) words.push("--switch", one);
      lines.push(`[agents.${name}]`, `title = ${JSON.stringify(setup.titles?.[name] ?? `Agent ${name}`)}`,
        `command = ${JSON.stringify(words)}`, ...more);
    }
    return `${lines.join("\n")}\n`;
  }

  program(name) {
    return join(programs, name);
  }

  async up() {
    const output = openSync(join(this.folder, "output"), "a");
    this.process = spawn(join(programs, "perdure"),
      ["serve", "--listen", `127.0.0.1:${this.port}`, "--config", join(this.folder, "config.toml")], {
        stdio: ["ignore", output, output],
        env: { PATH: process.env.PATH, HOME: join(this.folder, "user"), PERDURE_HOME: this.home, LANG: "C.UTF-8",
          PERDURE_WEB_TEST: this.folder },
      });
    this.ended = new Promise((done) => this.process.on("exit", done));
    await until(async () => (await this.ask("GET", "/readyz").catch(() => null))?.status === 200, "the daemon is ready",
      30_000);
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async restart() {
    await this.kill();
    await this.up();
  }

  // Kills every process of the sessions, but not the daemon: to a session this is a power cut.
  killAgents() {
    for (const pid of processesOf(this.folder)) {
      if (pid !== this.process.pid) end(pid);
    }
  }

  // Kills the test's processes whose command line matches.
  killWhere(fits) {
    const chosen = processesOf(this.folder).filter((pid) => {
      try {
        return fits(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
      } catch {
        return false;
      }
    });
    chosen.forEach(end);
    return { killed: chosen.length };
  }

  async stop() {
    await this.kill();
    await until(() => {
      const left = processesOf(this.folder);
      left.forEach(end);
      return left.length === 0;
    }, "every process of the test has ended", 10_000);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  output() {
    return readFileSync(join(this.folder, "output"), "utf8");
  }

  // Over the unix socket, as the owner. Returns {status, headers, body}.
  ask(method, path, body) {
    return request({ socketPath: join(this.home, "run/perdure.sock"), method, path }, body);
  }

  // Over TCP, without credentials.
  askOpenly(method, path, headers = {}) {
    return request({ host: "127.0.0.1", port: this.port, method, path, headers });
  }

  async api(method, path, body) {
    const answer = await this.ask(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return answer.body ? JSON.parse(answer.body) : null;
  }

  async session(body) {
    return (await this.api("POST", "/api/sessions", body)).session;
  }

  async sessionOf(id) {
    return (await this.api("GET", `/api/sessions/${id}`)).session;
  }

  async until(id, condition, what) {
    let session = null;
    await until(async () => {
      session = await this.sessionOf(id);
      return condition(session);
    }, what ?? "the session is as expected", 20_000);
    return session;
  }

  untilIdle(id) {
    return this.until(id, (one) => one.status === "idle" && one.state === "WAITING_FOR_INPUT", `${id} is idle`);
  }

  async events(id, kind = "") {
    const all = [];
    for (let after = 0; ;) {
      const page = await this.api("GET", `/api/sessions/${id}/events?after=${after}&limit=1000${kind ? `&kind=${kind}` : ""}`);
      all.push(...page.events);
      if (!page.more || page.events.length === 0) return all;
      after = page.events.at(-1).seq;
    }
  }

  async transcript(id) {
    return (await this.api("GET", `/api/sessions/${id}/transcript?limit=1000`)).messages;
  }

  async launchUrl(path = "/") {
    const { token } = await this.api("POST", "/api/launch");
    return `${this.origin}${path}#launch=${token}`;
  }
}

function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended first.
  }
}

function request(options, body) {
  return new Promise((done, fail) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { ...(text === undefined ? {} : { "Content-Type": "application/json" }), ...options.headers };
    if (text === undefined && options.method === "POST") headers["Content-Type"] = "application/json";
    const asked = http.request({ host: "localhost", ...options, headers, agent: false }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => {
        const bytes = Buffer.concat(parts);
        done({ status: answer.statusCode, headers: answer.headers, bytes, body: bytes.toString("utf8") });
      });
      answer.on("error", fail);
    });
    asked.on("error", fail);
    asked.end(text ?? (options.method === "POST" ? "{}" : undefined));
  });
}
