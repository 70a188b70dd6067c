// A request that a person is asked to allow, as the agent sent it. `isWhole` is false if a part of
// it is not available here: then it can be viewed but not allowed from this place, because hidden
// content must never be allowed.
import { suspiciousCount } from "./suspicious";
import type { RecordEnvelope } from "./types";

export interface AskedDiff {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}
export interface Question {
  /** `Run a command`, `Write a file`, or the agent's own title. */
  readonly title: string;
  /** The same as a phrase after the agent's name: `wants to run a command`. */
  readonly heading: string;
  readonly command: string;
  readonly cwd: string;
  readonly diffs: readonly AskedDiff[];
  /** Additional files and folders that the agent names. */
  readonly paths: readonly string[];
  /** The agent's own description. */
  readonly said: string;
  /** All remaining fields, one line per name. */
  readonly rest: string;
  readonly isWhole: boolean;
  /** Nothing is known of it: neither its action nor its name. */
  readonly isEmpty: boolean;
  /** How many answers were left out for lack of room. */
  readonly leftOut: number;
}

type Json = Record<string, unknown>;
const object = (value: unknown): Json => (value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

const verbs: Record<string, [title: string, heading: string]> = {
  execute: ["Run a command", "wants to run a command"], edit: ["Change a file", "wants to change a file"],
  delete: ["Delete", "wants to delete"], move: ["Move", "wants to move a file"],
  fetch: ["Fetch from the network", "wants to fetch from the network"], read: ["Read", "wants to read a file"],
  search: ["Search", "wants to search"], switch_mode: ["Change the mode", "wants to change its mode"],
};

// Quotes an argument for a shell, so that the borders between arguments are visible.
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function commandOf(raw: Json): string {
  const command = raw["command"] ?? raw["cmd"];
  return Array.isArray(command) ? command.map((word) => quoted(String(word))).join(" ") : text(command);
}

// Whether the whole value already appears in the shown texts.
function isShown(value: unknown, shown: readonly string[]): boolean {
  if (typeof value === "string") return value.trim() === "" || shown.some((one) => one.includes(value));
  if (value === null || typeof value !== "object") return false;
  const parts = Object.values(value);
  return parts.length > 0 && parts.every((part) => isShown(part, shown));
}

const lineOf = (name: string, value: unknown): string => `${name}: ${typeof value === "string" && !value.includes("\n") ? value : JSON.stringify(value)}`;

// The tool call of a question: version 2 of the protocol nests it one level deeper. A subject of
// another kind is its own call.
export function callOf(update: unknown): Json {
  const asked = object(update);
  if (asked["toolCall"]) return object(asked["toolCall"]);
  const subject = object(asked["subject"]);
  if (subject["toolCall"]) return object(subject["toolCall"]);
  const { type: _, ...rest } = subject;
  return Object.keys(rest).length > 0 ? { rawInput: rest } : {};
}

// Merges the records before the question and the question itself; later ones override earlier ones.
function foldOf(parts: readonly Json[]): Json {
  const out: Json = {};
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      if (value === null || value === undefined) continue;
      const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(object(value)).length === 0 && typeof value === "object";
      if (!isEmpty || !(name in out)) out[name] = value;
    }
  }
  return out;
}

/** `before`: the records of the same tool call up to the question. */
export function questionOf(record: RecordEnvelope, before: readonly RecordEnvelope[] = []): Question {
  const title = text(record["title"]);
  const parts = [...before.map((one) => object(one["update"])), object(record["update"])];
  const call = foldOf([...parts.slice(0, -1), callOf(record["update"])]);
  const raw = object(call["rawInput"]);
  const content = list(call["content"]).map(object);
  const diffs = content.filter((part) => part["type"] === "diff").map((part) => ({
    path: text(part["path"]), before: typeof part["oldText"] === "string" ? part["oldText"] : null, after: text(part["newText"]),
  }));
  const kind = text(call["kind"]);
  const command = commandOf(raw) || (kind === "execute" ? title.replace(/^`([\s\S]*)`$/, "$1") : "");
  const { command: _, cmd: __, cwd: ___, workdir: ____, ...others } = raw;
  const cwd = text(raw["cwd"]) || text(raw["workdir"]);
  const isKnown = command !== "" || diffs.length > 0;
  const isNew = diffs.length > 0 && diffs.every((diff) => diff.before === null);
  const verb = isNew ? (["Create a file", "wants to create a file"] as const) : command && !kind ? verbs["execute"] : verbs[kind];
  const names = [...new Set([...list(call["locations"]).map((one) => text(object(one)["path"])), ...(isKnown ? [] : [text(raw["path"])])])];
  const shown = [command, ...diffs.flatMap((diff) => [diff.path, diff.before ?? "", diff.after])];
  const said = content.filter((part) => part["type"] === "content").map((part) => text(object(part["content"])["text"])).filter(Boolean).join("\n");
  const rest = Object.entries(others).filter(([, value]) => !isShown(value, shown)).map(([name, value]) => lineOf(name, value));
  return {
    title: verb && (isKnown || !title) ? verb[0] : title || "Asks for permission",
    heading: verb?.[1] ?? "asks for permission",
    command, cwd, diffs,
    paths: names.filter((path) => path !== "" && !diffs.some((diff) => diff.path === path)),
    said,
    rest: [...(isKnown || !verb || !title ? [] : [title]), ...rest].join("\n"),
    isWhole: parts.every((part) => typeof part["blob"] !== "string") && Object.keys(call).length > 0,
    isEmpty: !isKnown && !title && said === "" && rest.length === 0,
    leftOut: typeof record["options_left_out"] === "number" ? record["options_left_out"] : 0,
  };
}

/** Whether a rule could answer it: the whole question and all of its answers are known. */
export const mayBecomeRule = (question: Question): boolean => question.isWhole && !question.isEmpty && question.leftOut === 0;

/** The number of suspicious characters in it. */
export function oddIn(question: Question): number {
  const strict = [question.command, question.rest, ...question.paths, ...question.diffs.map((diff) => diff.path)];
  const loose = [question.said, ...question.diffs.flatMap((diff) => [diff.before ?? "", diff.after])];
  return strict.reduce((sum, one) => sum + suspiciousCount(one, "command"), 0) + loose.reduce((sum, one) => sum + suspiciousCount(one, "title"), 0);
}

/** Whether the question itself describes the action; otherwise the records of its tool call may. */
export function saysItself(record: RecordEnvelope): boolean {
  const call = callOf(record["update"]);
  return Object.keys(object(call["rawInput"])).length > 0 || list(call["content"]).length > 0;
}
