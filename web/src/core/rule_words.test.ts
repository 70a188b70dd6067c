import { describe, expect, it } from "vitest";
import { answerWords, inOrder, isOtherwise, ruleError, ruleScope, ruleSubject, splitCommand, commandOf, trialWarnings, trialWords, type Part } from "./rule_words";
import type { RuleBody, RuleTrial } from "./types";

const names = { agent: (name: string) => name.toUpperCase(), session: (id: string) => `title of ${id}` };
const joined = (parts: readonly Part[]): string => parts.map((part) => (part.isCode ? `\`${part.text}\`` : part.text)).join("");
const subject = (rule: RuleBody): string => joined(ruleSubject(rule));
const scope = (rule: Partial<RuleBody>): string => joined(ruleScope({ effect: "allow", ...rule }, names));
const trial = (more: Partial<RuleTrial> = {}): RuleTrial => ({
  effect: "allow", text: "", days: 30, questions: 212, matched: 41, overruled: 0, answered_otherwise: 0, complete: true, list: [], ...more,
});

describe("a rule in words", () => {
  it("says what it is about", () => {
    expect(subject({ effect: "allow", argv: ["npm", "test"] })).toBe("commands that start with `npm test`");
    expect(subject({ effect: "deny", argv: ["rm"], path: "outside" })).toBe("commands that run `rm` outside the session's folder");
    expect(subject({ effect: "allow", argv: ["echo", "two words"] })).toBe("commands that start with `echo 'two words'`");
    expect(subject({ effect: "allow", tools: ["read", "edit", "search"], path: "workspace" })).toBe("reading files, changing files and searching inside the session's folder");
    expect(subject({ effect: "ask", tools: ["fetch"] })).toBe("fetching from the network");
    expect(subject({ effect: "deny", path: "/etc" })).toBe("everything in `/etc` and below");
    expect(subject({ effect: "deny", tools: ["of a later version"] })).toBe("of a later version");
  });
  it("says where it holds and for whom", () => {
    expect(scope({})).toBe("in every session");
    expect(scope({ folder: "/srv/app" })).toBe("in sessions that work in `/srv/app` or below");
    expect(scope({ session_id: "s1", agent: "claude" })).toBe("in the session “title of s1”, when CLAUDE asks");
    expect(joined(ruleScope({ effect: "deny", option_kind: "reject_always" } as never, names))).toBe("in every session, with the agent's own “always deny”");
    expect(scope({ session_id: "s1", folder: "/x" })).toBe("in the session “title of s1”, and in sessions that work in `/x` or below");
  });
});

describe("a trial in words", () => {
  it("counts what the rule would have decided", () => {
    expect(trialWords(trial())).toBe("Would have allowed 41 of 212 questions of the last 30 days.");
    expect(trialWords(trial({ effect: "deny", matched: 1, questions: 1, days: 1 }))).toBe("Would have denied 1 of 1 question of the last day.");
    expect(trialWords(trial({ effect: "ask", matched: 0 }))).toBe("Would have left to you none of 212 questions of the last 30 days.");
    expect(trialWords(trial({ matched: 0, questions: 0 }))).toBe("No questions were asked in the last 30 days.");
  });
  it("warns of what was answered otherwise, what another rule decides, and what was not read", () => {
    expect(trialWarnings(trial())).toEqual([]);
    expect(trialWarnings(trial({ answered_otherwise: 1, overruled: 2, complete: false }))).toEqual([
      "1 of them was answered otherwise.", "2 more match, but another rule asks or denies first.", "Older questions were not looked at.",
    ]);
  });
  it("names each answer, and knows the opposite ones", () => {
    const tried = (answer: string, overruled = false) => ({ session_id: "", session_title: "", perm_id: "", seq: 1, ts: "", title: "", command: null, answer, by: null, overruled });
    expect(["allow_once", "reject_always", "open", "of_a_later_version"].map(answerWords)).toEqual(["Allowed", "Denied", "Open", "of a later version"]);
    expect(isOtherwise("allow", tried("reject_once"))).toBe(true);
    expect(isOtherwise("deny", tried("allow_always"))).toBe(true);
    expect(isOtherwise("allow", tried("allow_once"))).toBe(false);
    expect(isOtherwise("allow", tried("reject_once", true))).toBe(false);
    expect(isOtherwise("ask", tried("reject_once"))).toBe(false);
    expect(inOrder(trial({ list: [tried("open"), tried("reject_once"), tried("allow_once")] })).map((one) => one.answer)).toEqual(["reject_once", "open", "allow_once"]);
  });
});

describe("a typed command", () => {
  it("has words, with quotes around blanks", () => {
    expect(splitCommand("  npm   run 'two words' \"and three\" a\\ b ''")).toEqual(["npm", "run", "two words", "and three", "a b", ""]);
    expect(splitCommand("")).toEqual([]);
    expect(splitCommand("echo 'open")).toBe(null);
  });
  it("is the same after it was shown", () => {
    for (const words of [["npm", "test"], ["echo", "it's", "a b", "$x", ""]]) expect(splitCommand(commandOf(words))).toEqual(words);
  });
});

it("an error has no name of the API's in it", () => {
  expect(ruleError(new Error("argv: 'sudo' runs other commands"))).toBe("'sudo' runs other commands");
  expect(ruleError(new Error("rules are being tried already; try again soon"))).toBe("Rules are being tried already; try again soon");
});
