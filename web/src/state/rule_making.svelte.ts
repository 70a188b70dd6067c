// Rules that can be made of open questions, and the one that is being made. It lies over all pages: a question that is
// answered elsewhere meanwhile must not take away what somebody is about to save.
import { SvelteMap } from "svelte/reactivity";
import { ApiError } from "../core/api";
import type { RuleOffer } from "../core/types";
import { app } from "./app.svelte";

export interface RuleMaking {
  permission: string;
  agent: string;
  session: string;
  offers: readonly RuleOffer[];
  /** Allows the question that was shown, once. Its error is in words. */
  allow: () => Promise<void>;
  /** After that, once the dialog has closed. */
  afterwards?: () => void;
}

const keptMax = 200;

class RuleMakings {
  current: RuleMaking | null = $state.raw(null);
  private readonly known = new SvelteMap<string, readonly RuleOffer[]>();
  private readonly asked = new Set<string>();

  /** Empty: none can be made, or it is not known yet. */
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
      // What is refused stays refused: the question was answered. Anything else is looked at again when it is shown again.
      if (!(cause instanceof ApiError) || cause.isOffline) this.asked.delete(permission);
    }
  }
}

export const ruleMaking = new RuleMakings();
