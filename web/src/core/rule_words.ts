// Permission rules in plain words, and parsing of typed commands. Text of an agent or a person is a
// separate part (`isCode`), so that the page shows its hidden characters.
import { quoted } from "./question";
import { count, plural } from "./text";
import type { RuleBody, RuleEffect, RuleTrial, TriedQuestion, TypedRule } from "./types";

export interface Part {
  readonly text: string;
  readonly isCode?: boolean;
}
export interface RuleNames {
  agent: (name: string) => string;
  session: (id: string) => string;
}

export const effectWords: Readonly<Record<RuleEffect, string>> = { allow: "Allow", ask: "Ask", deny: "Deny" };
/** Kinds of tools, phrased as actions of an agent. */
export const toolWords: Readonly<Record<string, string>> = {
  read: "reading files", edit: "changing files", delete: "deleting files", move: "moving files", search: "searching", execute: "running commands",
  think: "thinking", fetch: "fetching from the network", switch_mode: "changing the mode", other: "anything else",
};
/** An allow rule cannot name these kinds, because they can do anything. */
export const neverAllowed: readonly string[] = ["execute", "switch_mode", "other"];

const plain = (text: string): Part => ({ text });
const code = (text: string): Part => ({ text, isCode: true });
const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`;

/** A command's words, quoted where a shell needs it. */
export const commandOf = (argv: readonly string[]): string => argv.map(quoted).join(" ");

/** The rule's subject: `commands that start with` npm test. */
export function ruleSubject(rule: RuleBody | TypedRule): Part[] {
  const parts: Part[] = [];
  if (rule.argv?.length) parts.push(plain(rule.effect === "allow" ? "commands that start with " : "commands that run "), code(commandOf(rule.argv)));
  else parts.push(plain(rule.tools?.length ? listed(rule.tools.map((kind) => toolWords[kind] ?? kind)) : "everything"));
  if (rule.path === "workspace") parts.push(plain(" inside the session's folder"));
  else if (rule.path === "outside") parts.push(plain(" outside the session's folder"));
  else if (rule.path) parts.push(plain(" in "), code(rule.path), plain(" and below"));
  return parts;
}

/** The rule's scope: `in every session`, `in sessions that work in` /srv/app `or below`. */
export function ruleScope(rule: RuleBody | TypedRule, names: RuleNames): Part[] {
  const parts: Part[] = [];
  if (rule.session_id) parts.push(plain("in the session “"), { text: names.session(rule.session_id) }, plain("”"));
  if (rule.folder) parts.push(plain(`${parts.length > 0 ? ", and " : ""}in sessions that work in `), code(rule.folder), plain(" or below"));
  if (parts.length === 0) parts.push(plain("in every session"));
  if (rule.agent) parts.push(plain(", when "), { text: names.agent(rule.agent) }, plain(" asks"));
  const kind = "option_kind" in rule ? rule.option_kind : null;
  if (kind?.endsWith("_always")) parts.push(plain(`, with the agent's own “always ${kind.startsWith("allow") ? "allow" : "deny"}”`));
  return parts;
}

const deeds: Readonly<Record<RuleEffect, string>> = { allow: "Would have allowed", ask: "Would have left to you", deny: "Would have denied" };

/** `Would have allowed 41 of 212 questions of the last 30 days.` */
export function trialWords(trial: RuleTrial): string {
  const days = trial.days === 1 ? "the last day" : `the last ${count(trial.days)} days`;
  if (trial.questions === 0) return `No questions were asked in ${days}.`;
  return `${deeds[trial.effect]} ${trial.matched === 0 ? "none" : count(trial.matched)} of ${plural(trial.questions, "question")} of ${days}.`;
}
/** Warnings to show before the rule is saved. */
export function trialWarnings(trial: RuleTrial): string[] {
  const warnings: string[] = [];
  const { answered_otherwise: otherwise, overruled } = trial;
  if (otherwise > 0) warnings.push(`${count(otherwise)} of them ${otherwise === 1 ? "was" : "were"} answered otherwise.`);
  if (overruled > 0) warnings.push(`${count(overruled)} more ${overruled === 1 ? "matches" : "match"}, but another rule asks or denies first.`);
  if (!trial.complete) warnings.push("Older questions were not looked at.");
  return warnings;
}

const outcomes: Readonly<Record<string, string>> = { cancelled: "Cancelled", expired: "Expired", open: "Open" };
export function answerWords(answer: string): string {
  if (answer.startsWith("allow")) return "Allowed";
  if (answer.startsWith("reject")) return "Denied";
  return outcomes[answer] ?? answer.replaceAll("_", " ");
}
/** The recorded answer was the opposite of the rule's. */
export function isOtherwise(effect: RuleEffect, tried: TriedQuestion): boolean {
  if (tried.overruled || effect === "ask") return false;
  return tried.answer.startsWith(effect === "allow" ? "reject" : "allow");
}

/** Questions that were answered differently come first: they need a look. */
export function inOrder(trial: RuleTrial): TriedQuestion[] {
  const [other, same] = [true, false].map((is) => trial.list.filter((tried) => isOtherwise(trial.effect, tried) === is));
  return [...(other ?? []), ...(same ?? [])];
}

/**
 * Splits a typed command into words; quotes group words with spaces. Null: a quote is not closed.
 */
export function splitCommand(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const one = text.charAt(at);
    if (quote !== "") {
      if (one === quote) quote = "";
      else word = (word ?? "") + one;
    } else if (one === "'" || one === '"') {
      quote = one;
      word ??= "";
    } else if (/\s/.test(one)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      if (one === "\\") at += 1;
      word = (word ?? "") + text.charAt(at);
    }
  }
  if (quote !== "") return null;
  return word === null ? words : [...words, word];
}

/** The daemon's error without the API's field name. */
export function ruleError(cause: unknown): string {
  const message = (cause instanceof Error ? cause.message : String(cause)).replace(/^[a-z_]+: /, "");
  return message.charAt(0).toUpperCase() + message.slice(1);
}
