// What somebody is asked to allow, as the agent sent it. `isWhole` is false where a part of it is not known here: then
// nothing may be allowed from this place, only looked at (never allow what is hidden).
import type { PermissionOption, RecordEnvelope } from "./types";

export interface Question {
  /** `Run a command`, `Write a file`, or the agent's own title. */
  title: string;
  command: string;
  cwd: string;
  diffs: { path: string; before: string | null; after: string }[];
  /** Anything else that it brings, as JSON. */
  rest: string;
  isWhole: boolean;
}

type Json = Record<string, unknown>;
const object = (value: unknown): Json => (value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {});
const text = (value: unknown): string => (typeof value === "string" ? value : "");

const verbs: Record<string, string> = {
  execute: "Run a command", edit: "Change a file", delete: "Delete", move: "Move", fetch: "Fetch from the network", read: "Read",
};

function commandOf(raw: Json): string {
  const command = raw["command"] ?? raw["cmd"];
  return Array.isArray(command) ? command.map(String).join(" ") : text(command);
}

export function questionOf(record: RecordEnvelope): Question {
  const title = text(record["title"]);
  const update = object(record["update"]);
  const call = object(update["toolCall"]);
  const raw = object(call["rawInput"]);
  const content = Array.isArray(call["content"]) ? call["content"].map(object) : [];
  const diffs = content.filter((part) => part["type"] === "diff").map((part) => ({
    path: text(part["path"]), before: typeof part["oldText"] === "string" ? part["oldText"] : null, after: text(part["newText"]),
  }));
  const kind = text(call["kind"]);
  const said = content.filter((part) => part["type"] === "content").map((part) => text(object(part["content"])["text"])).filter(Boolean);
  const command = commandOf(raw) || (kind === "execute" ? title.replace(/^`([\s\S]*)`$/, "$1") : "");
  const { command: _, cmd: __, cwd: ___, ...others } = raw;
  const isKnown = command !== "" || diffs.length > 0;
  const isNew = diffs.length > 0 && diffs.every((diff) => diff.before === null);
  const verb = isNew ? "Create a file" : verbs[kind];
  return {
    title: verb && (isKnown || !title) ? verb : title,
    command,
    cwd: text(raw["cwd"]) || text(raw["workdir"]),
    diffs,
    rest: [...said, !isKnown && Object.keys(others).length > 0 ? JSON.stringify(others, null, 2) : ""].filter(Boolean).join("\n"),
    isWhole: typeof update["blob"] !== "string" && Object.keys(call).length > 0,
  };
}

/** The option that allows this once and nothing more; none: only a look at the session helps. */
export function allowOnce(options: PermissionOption[] = []): PermissionOption | undefined {
  return options.find((option) => option.kind === "allow_once");
}
/** Everything but that, in the agent's order. */
export function otherOptions(options: PermissionOption[] = []): PermissionOption[] {
  const once = allowOnce(options);
  return options.filter((option) => option !== once);
}
export const isRefusal = (option: PermissionOption): boolean => option.kind.startsWith("reject");
