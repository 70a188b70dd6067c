import { expect, test } from "vitest";
import { byWords } from "./words";

test("an automatic answer names its rule", () => {
  expect(byWords("rule:rule_01kad")).toBe("by the rule rule_01kad");
  expect(byWords("uid:1000")).toBe("from the command line");
});
