// Tries a rule on the journal before it is saved. One trial at a time, since the daemon runs few of
// them; the latest choice is tried, and a result belongs to exactly the rule that was tried.
import { ruleError } from "../core/rule_words";
import type { RuleBody, RuleTrial } from "../core/types";
import { app } from "./app.svelte";

export class RuleTrying {
  result: RuleTrial | null = $state.raw(null);
  error = $state("");
  isBusy = $state(false);
  private tried = $state("");
  private wanted: RuleBody | null = null;

  /** Exactly this rule has been tried, and the result is here. */
  isOf(rule: RuleBody | null): boolean {
    return rule !== null && this.result !== null && this.tried === JSON.stringify(rule);
  }
  forget(): void {
    this.wanted = null;
    this.result = null;
    this.error = "";
  }
  async try(rule: RuleBody): Promise<void> {
    this.forget();
    this.wanted = rule;
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.wanted) await this.once(this.wanted);
    this.isBusy = false;
  }
  private async once(rule: RuleBody): Promise<void> {
    let result: RuleTrial | null = null;
    let error = "";
    try {
      result = await app.api.tryRule(rule);
    } catch (cause) {
      error = ruleError(cause);
    }
    if (this.wanted !== rule) return;
    this.wanted = null;
    this.result = result;
    this.error = error;
    this.tried = JSON.stringify(rule);
  }
}
