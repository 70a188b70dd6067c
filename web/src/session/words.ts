// Words for events: tools in one line, marks as sentences, the author of an answer.
import { ourWordFor } from "../core/answers";
import { markedText } from "../core/suspicious";
import type { PermissionOption, RecordEnvelope } from "../core/types";
import { plural } from "../core/text";
import type { Tool } from "./entries";
import type { IconName } from "../ui/icons";

interface Verb {
  readonly word: string;
  readonly icon: IconName;
}
const verbs: Readonly<Record<string, Verb>> = {
  read: { word: "Read", icon: "eye" },
  edit: { word: "Edit", icon: "edit" },
  delete: { word: "Delete", icon: "trash" },
  move: { word: "Move", icon: "arrow-right" },
  search: { word: "Search", icon: "search" },
  execute: { word: "Shell", icon: "terminal" },
  think: { word: "Think", icon: "think" },
  fetch: { word: "Fetch", icon: "globe" },
  switch_mode: { word: "Mode", icon: "settings" },
};

export function verbOf(kind: string): Verb {
  return verbs[kind] ?? { word: "Tool", icon: "tool" };
}

const times = (n: number): string => (n === 1 ? "once" : n === 2 ? "twice" : `${n} times`);

// "Read 6 files, searched twice, ran 3 commands"
export function summaryOf(tools: readonly Tool[]): string {
  const counts = new Map<string, number>();
  for (const tool of tools) {
    const kind = verbs[tool.call.tool_kind] ? tool.call.tool_kind : "other";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const says: Readonly<Record<string, (n: number) => string>> = {
    read: (n) => `read ${plural(n, "file")}`,
    search: (n) => `searched ${times(n)}`,
    edit: (n) => `changed files ${times(n)}`,
    execute: (n) => `ran ${plural(n, "command")}`,
    fetch: (n) => `fetched ${plural(n, "page")}`,
    delete: (n) => `deleted ${plural(n, "file")}`,
    move: (n) => `moved ${plural(n, "file")}`,
    think: (n) => `thought ${times(n)}`,
    switch_mode: () => "changed its mode",
    other: (n) => `used ${plural(n, "tool")}`,
  };
  const parts = [...counts].map(([kind, n]) => says[kind]?.(n) ?? "");
  const text = parts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// The title without its verb and its backticks.
export function subjectOf(tool: Tool): string {
  const { title, content, tool_kind } = tool.call;
  if (tool_kind === "execute" && content) return content;
  const bare = title.replace(/^`+|`+$/g, "").trim();
  const word = verbOf(tool_kind).word;
  const cut = bare.replace(new RegExp(`^(${word}|Write|Read|Edit|Search|Run|Fetch)\\s+(?=\\S)`, "i"), "");
  return cut || content;
}

const text = (record: RecordEnvelope, name: string): string => (typeof record[name] === "string" ? (record[name] as string) : "");

const boundaries: Readonly<Record<string, string>> = {
  fresh: "Started", native_resume: "Resumed by the agent", native_load: "Loaded by the agent", injected: "Started fresh with history",
  cleared: "Context cleared", compacted: "Context compacted", handover: "Handed over to another agent",
};
const verified: Readonly<Record<string, string>> = {
  full: "compared with the journal, nothing is missing", partial: "compared with the journal, parts are missing", id_only: "it took its own session back",
};
const failures: Readonly<Record<string, string>> = {
  capability_missing: "the agent cannot", session_unknown: "the agent no longer knows the session", never_prompted: "nothing was asked yet",
  not_restored: "nothing was restored", other_session: "the agent gave another session", cwd_changed: "the folder is another one", transport: "the agent could not be reached",
  timeout: "it took too long", cancelled: "it was cancelled", auth: "the agent needs a login", startup: "the agent did not start", other: "the agent refused",
};
const interruptions: Readonly<Record<string, string>> = {
  process_exit: "Interrupted here. The agent's process ended while it worked.",
  process_restart: "Interrupted here. The daemon stopped while the agent was writing.",
  wait_timeout: "Interrupted here. The question was not answered in time.",
  wait_lost: "Interrupted here. Who asked was gone before the answer.",
  forked: "The copy begins here. The turn under way stayed in the original.",
};
const stops: Readonly<Record<string, string>> = {
  completed: "Completed", cancelled: "Cancelled", stopped_by_user: "Stopped", agent_crashed: "The agent crashed", error: "Stopped after an error",
};

export interface MarkWords {
  readonly title: string;
  readonly detail: string;
  readonly failed: boolean;
}

function attemptsOf(record: RecordEnvelope): string {
  const attempts = Array.isArray(record["attempts"]) ? (record["attempts"] as { method?: string; failure?: string }[]) : [];
  return attempts.map((one) => `${one.method ?? "it"} did not serve: ${failures[one.failure ?? ""] ?? one.failure ?? "unknown"}`).join("; ");
}

function boundaryWords(record: RecordEnvelope): MarkWords {
  const how = text(record, "how");
  const first = how === "fresh" && text(record, "reason") === "never_prompted";
  const checked = verified[text(record, "verified")] ?? "";
  const parts = [first ? "" : checked, attemptsOf(record)].filter((part) => part !== "");
  const detail = parts.join("; ");
  return { title: first ? "Agent started" : (boundaries[how] ?? how), detail: detail.charAt(0).toUpperCase() + detail.slice(1), failed: false };
}

export function markWords(record: RecordEnvelope): MarkWords {
  switch (record.kind) {
    case "context.boundary": return boundaryWords(record);
    case "executor.reattached": return { title: "Daemon restarted", detail: "The agent lived on; nothing was lost", failed: false };
    case "session.stopped": return { title: stops[text(record, "reason")] ?? "Stopped", detail: byWords(text(record, "by")), failed: false };
    case "run.failed": return { title: "The turn failed", detail: text(record, "message") || text(record, "code"), failed: true };
    case "run.interrupted": return { title: interruptions[text(record, "reason")] ?? "Interrupted here.", detail: "", failed: text(record, "reason") !== "forked" };
    case "resume.failed": return { title: record["gen"] === 1 ? "The agent could not be started" : "Resume failed, history kept", detail: text(record, "message") || (failures[text(record, "failure")] ?? ""), failed: true };
    case "executor.error": return { title: "Executor error", detail: text(record, "message") || text(record, "code"), failed: true };
    case "permission.requested": return { title: "Asked for permission", detail: text(record, "title"), failed: false };
    default: return { title: record.kind, detail: "", failed: false };
  }
}

// `uid:1000`, `browser:…`, `token:ci`, `session:…`, `rule:…`, `system`
export function byWords(by: string): string {
  if (by === "") return "";
  const [kind = "", name = ""] = by.split(/:(.*)/s);
  switch (kind) {
    case "uid": return "from the command line";
    case "browser": return "from a browser";
    case "token": return `with the token ${name}`;
    case "rule": return "by a rule";
    case "system": return "by Perdure";
    default: return `by ${by}`;
  }
}

// `name` is the option's own, as recorded; `options` are all that the question offered.
export function answerWords(outcome: string, name: string, chosen: PermissionOption | undefined, options: readonly PermissionOption[]): string {
  if (outcome === "expired") return "Expired, not answered";
  if (outcome === "cancelled") return "Not answered: cancelled";
  const kind = chosen?.kind ?? "";
  if (chosen && ourWordFor(chosen, options)) return kind === "allow_once" ? "Allowed once" : "Denied";
  const isOnly = options.filter((one) => one.kind === kind).length === 1;
  const word = isOnly && kind.startsWith("allow") ? "Allowed" : isOnly && kind.startsWith("reject") ? "Denied" : "Answered";
  return name ? `${word}: “${markedText(name)}”` : word;
}
