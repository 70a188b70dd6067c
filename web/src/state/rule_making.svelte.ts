// Rules that can be made from open questions, and the one being made. Global to all pages: if the
// question is answered elsewhere, the rule being edited must not disappear.
import { SvelteMap } from "svelte/reactivity";
import { ApiError } from "../core/api";
import type { RuleOffer } from "../core/types";
import { app } from "./app.svelte";

export interface RuleMaking {
  permission: string;
  agent: string;
  session: string;
  offers: readonly RuleOffer[];
  /** Allows the question that was shown, once. Rejects with a readable message. */
  allow: () => Promise<void>;
  /** Called after the dialog has closed. */
  afterwards?: () => void;
}

const keptMax = 200;

class RuleMakings {
  current: RuleMaking | null = $state.raw(null);
  private readonly known = new SvelteMap<string, readonly RuleOffer[]>();
  private readonly asked = new Set<string>();

  /** Empty: none can be made, or not loaded yet. */
  of(permission: string): readonly RuleOffer[] {
    return this.known.get(permission) ?? [];
  }
  async look(permission: string): Promise<void> {
    if (this.asked.has(permission)) return;
    if (this.asked.size >= keptMax) {
      this.asked.clear();
      this.known.clear();
    }
    this.asked.add(permission);
    try {
      this.known.set(permission, await app.api.ruleOffers(permission));
    } catch (cause) {
      // An API error is final: the question was answered. After any other error, retry when it is
      // shown again.
      if (!(cause instanceof ApiError) || cause.isOffline) this.asked.delete(permission);
    }
  }
}

export const ruleMaking = new RuleMakings();
