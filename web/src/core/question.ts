// What somebody is asked to allow, as the daemon shows it: labelled parts that leave nothing out. `isWhole` is false where
// some of it could not be read: then nothing may be allowed from this page (never allow what is hidden).
import { suspiciousCount } from "./suspicious";
import type { QuestionPart, ShownQuestion } from "./types";

export interface Question {
  /** `Run a command`, `Write a file`, or the agent's own title. */
  readonly title: string;
  /** The same as a phrase after the agent's name: `wants to run a command`. */
  readonly heading: string;
  /** The agent's title, where it is neither the title above nor the command itself. */
  readonly calledIt: string;
  /** What it is about, and what other mentions of the same call say. */
  readonly parts: readonly QuestionPart[];
  readonly others: readonly QuestionPart[];
  readonly isWhole: boolean;
  /** Nothing is known of it: neither its action nor its name. */
  readonly isEmpty: boolean;
  /** How many answers were left out for lack of room. */
  readonly leftOut: number;
}

const verbs: Record<string, [title: string, heading: string]> = {
  execute: ["Run a command", "wants to run a command"], edit: ["Change a file", "wants to change a file"],
  delete: ["Delete", "wants to delete"], move: ["Move", "wants to move a file"],
  fetch: ["Fetch from the network", "wants to fetch from the network"], read: ["Read", "wants to read a file"],
  search: ["Search", "wants to search"], switch_mode: ["Change the mode", "wants to change its mode"],
};

// Kinds of part that a later version may add are not hidden: the question is then not whole.
const kinds = new Set(["command", "folder", "diff", "path", "value", "said"]);

export function questionOf(shown: ShownQuestion): Question {
  const all = Array.isArray(shown.parts) ? shown.parts : [];
  const known = all.filter((part) => kinds.has(part.kind) && typeof part.text === "string");
  const parts = known.filter((part) => !part.other);
  const of = (kind: string): QuestionPart[] => parts.filter((part) => part.kind === kind);
  const [commands, diffs] = [of("command"), of("diff")];
  const isNew = commands.length === 0 && diffs.length > 0 && diffs.every((diff) => diff.before === undefined);
  const kind = shown.tool_kind || (commands.length > 0 ? "execute" : "");
  const verb = isNew ? (["Create a file", "wants to create a file"] as const) : verbs[kind];
  const says = commands.length > 0 || diffs.length > 0;
  const title = verb && (says || !shown.title) ? verb[0] : shown.title || "Asks for permission";
  const isCommand = commands.some(({ text }) => text === shown.title || `\`${text}\`` === shown.title);
  const other = verb || !kind || kind === "other" ? [] : [{ kind: "value", label: "kind", text: kind } as const];
  return {
    title,
    heading: verb?.[1] ?? "asks for permission",
    calledIt: title === shown.title || isCommand ? "" : shown.title,
    parts: [...parts, ...other],
    others: known.filter((part) => part.other),
    isWhole: shown.is_whole === true && Array.isArray(shown.parts) && known.length === all.length,
    isEmpty: all.length === 0 && !shown.title,
    leftOut: shown.options_left_out ?? 0,
  };
}

/** Whether it may be allowed at all: all of it and something of it is known. */
export const mayBeAllowed = (question: Question): boolean => question.isWhole && !question.isEmpty;
/** Whether a rule could answer it: all of its answers are known as well. */
export const mayBecomeRule = (question: Question): boolean => mayBeAllowed(question) && question.leftOut === 0;

/** The number of suspicious characters in it. */
export function oddIn(question: Question): number {
  const count = ({ kind, label, text, before }: QuestionPart): number => {
    const care = kind === "said" || kind === "diff" ? "title" : "command";
    return suspiciousCount(label, "command") + suspiciousCount(text, care) + suspiciousCount(before ?? "", care);
  };
  const words = suspiciousCount(question.calledIt, "command");
  return [...question.parts, ...question.others].reduce((sum, part) => sum + count(part), words);
}
