// Details of a tool call beyond its row: files, diffs, the command, output, exit code. Parses ACP's
// updates; fields of an unexpected shape are skipped, since agents differ.
import type { RecordEnvelope } from "../core/types";

export interface TextDiff {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}
export interface ToolDetail {
  readonly command: string;
  readonly cwd: string;
  readonly paths: readonly string[];
  readonly diffs: readonly TextDiff[];
  readonly output: string; // text output of the tool
  readonly exitCode: number | null;
  readonly input: string; // raw input as JSON, for unknown tools
  readonly started: number;
  readonly ended: number;
  /** An update that the journal stores separately: fetched on demand. */
  readonly blob: { readonly hash: string; readonly bytes: number } | null;
}

type Json = Readonly<Record<string, unknown>>;
const object = (value: unknown): Json => (value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function commandOf(raw: Json): string {
  const command = raw["command"] ?? raw["cmd"];
  return Array.isArray(command) ? command.map(String).join(" ") : text(command);
}

function exitOf(raw: Json, meta: Json): number | null {
  for (const value of [raw["exit_code"], raw["exitCode"], object(raw["metadata"])["exit"], meta["exit_code"], meta["exitCode"]]) {
    if (typeof value === "number") return value;
  }
  return null;
}

function outputOf(raw: unknown): string {
  if (typeof raw === "string") return raw;
  const from = object(raw);
  const named = text(from["formatted_output"]) || text(from["aggregated_output"]) || text(from["output"]);
  return named || [text(from["stdout"]), text(from["stderr"])].filter((part) => part !== "").join("\n");
}

class DetailFold {
  command = "";
  cwd = "";
  paths: string[] = [];
  diffs: TextDiff[] = [];
  texts = "";
  rawOutput = "";
  exitCode: number | null = null;
  input = "";
  blob: ToolDetail["blob"] = null;

  add(update: Json): void {
    if (typeof update["blob"] === "string") {
      this.blob = { hash: update["blob"], bytes: Number(update["bytes"] ?? 0) };
      return;
    }
    const raw = object(update["rawInput"]);
    this.command = commandOf(raw) || this.command;
    this.cwd = text(raw["cwd"]) || text(raw["workdir"]) || this.cwd;
    if (Object.keys(raw).length > 0) this.input = JSON.stringify(raw, null, 2);
    if (update["locations"]) this.paths = list(update["locations"]).map((one) => text(object(one)["path"])).filter((path) => path !== "");
    if (update["content"]) this.#content(list(update["content"]));
    const given = outputOf(update["rawOutput"]);
    if (given) this.rawOutput = given;
    this.exitCode = exitOf(object(update["rawOutput"]), object(update["_meta"])) ?? this.exitCode;
  }

  // New content replaces the old, per ACP.
  #content(parts: readonly unknown[]): void {
    this.diffs = [];
    const texts: string[] = [];
    for (const part of parts.map(object)) {
      if (part["type"] === "diff") {
        const before = part["oldText"];
        this.diffs.push({ path: text(part["path"]), before: typeof before === "string" ? before : null, after: text(part["newText"]) });
      } else if (part["type"] === "content") texts.push(text(object(part["content"])["text"]));
      else if (part["type"] === "terminal") texts.push(text(part["output"]));
    }
    this.texts = texts.filter((one) => one !== "").join("\n");
  }
}

// Agents put output into a fence; a terminal shows it without one.
export function withoutFence(output: string): string {
  const found = /^\s*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?\1\s*$/.exec(output);
  return found?.[2] ?? output;
}

export function detailOf(records: readonly RecordEnvelope[], blobs: ReadonlyMap<string, unknown> = new Map()): ToolDetail {
  const fold = new DetailFold();
  for (const record of records) {
    const update = object(record["update"]);
    const stored = typeof update["blob"] === "string" ? blobs.get(update["blob"]) : undefined;
    fold.add(stored ? object(stored) : update);
    fold.command = fold.command || text(record["input"]);
  }
  const first = records[0];
  const last = records.at(-1);
  return {
    command: fold.command, cwd: fold.cwd, paths: fold.paths, diffs: fold.diffs, output: fold.texts || fold.rawOutput, exitCode: fold.exitCode,
    input: fold.input, blob: fold.blob, started: first ? Date.parse(first.ts) : 0, ended: last ? Date.parse(last.ts) : 0,
  };
}
