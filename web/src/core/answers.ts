// Labels for the answers that a question offers. Our own label replaces the agent's only if the
// option's kind occurs once and the agent's name for it adds nothing. Any other option keeps the
// agent's name, with a note of its effect.
import type { PermissionOption } from "./types";

export interface Answer {
  readonly option: PermissionOption;
  readonly label: string;
  /** The option's effect, if the label is the agent's. */
  readonly note: string;
  readonly effect: "allow" | "deny" | "other";
}
export interface Answers {
  readonly all: readonly Answer[];
  /** The only answer that allows this once and nothing more. */
  readonly once: Answer | undefined;
  /** The only answer that denies this once. */
  readonly deny: Answer | undefined;
  /** Several options of one kind: a choice, not a yes or no. */
  readonly isChoice: boolean;
}

const order = ["allow_once", "allow_always", "reject_once", "reject_always"];
const notes: Readonly<Record<string, string>> = {
  allow_once: "allows this once", allow_always: "allows this and more from now on", reject_once: "denies this once", reject_always: "denies this from now on",
};
const ours: Readonly<Record<string, string>> = { allow_once: "Allow once", reject_once: "Deny" };
const plain: Readonly<Record<string, RegExp>> = {
  allow_once: /^(?:yes|ok|okay|allow|approve|accept|proceed|run|yes, proceed)(?: (?:once|it|this time))?[.!]?$/i,
  reject_once: /^(?:no|deny|reject|decline|refuse|cancel|skip|don['’]t allow)(?: (?:once|it|this time))?[.!]?$/i,
};

const rank = (option: PermissionOption): number => {
  const at = order.indexOf(option.kind);
  return at < 0 ? order.length : at;
};
const effectOf = (option: PermissionOption): Answer["effect"] => (option.kind.startsWith("allow") ? "allow" : option.kind.startsWith("reject") ? "deny" : "other");

/** Our label for an option; empty if the agent's name is better. */
export function ourWordFor(option: PermissionOption, options: readonly PermissionOption[]): string {
  const isOnly = options.every((one) => one === option || one.kind !== option.kind);
  return isOnly && plain[option.kind]?.test(option.name.trim()) ? (ours[option.kind] ?? "") : "";
}

export function answersOf(options: readonly PermissionOption[] = []): Answers {
  const isChoice = options.some((option, index) => options.findIndex((one) => one.kind === option.kind) !== index);
  const all = options
    .map((option, index) => ({ option, index }))
    .sort((a, b) => rank(a.option) - rank(b.option) || a.index - b.index)
    .map(({ option }): Answer => {
      const word = isChoice ? "" : ourWordFor(option, options);
      return { option, label: word || option.name || option.option_id, note: word ? "" : (notes[option.kind] ?? ""), effect: effectOf(option) };
    });
  const only = (kind: string): Answer | undefined => {
    const found = all.filter((answer) => answer.option.kind === kind);
    return found.length === 1 ? found[0] : undefined;
  };
  return { all, once: only("allow_once"), deny: only("reject_once"), isChoice };
}
