// What the connection line says, and when it says nothing. Pure, so that every state has a test.
import type { ConnectionState } from "./connection";
import { count } from "./text";
import type { Seq } from "./types";

export interface LinkFacts {
  link: ConnectionState;
  /** The drop has lasted three seconds. */
  isDropShown: boolean;
  /** The browser has no network. */
  isOffline: boolean;
  /** The daemon came back a moment ago, after a drop that was spoken of. */
  isBack: boolean;
  now: number;
  /** Of the session that is shown; null: none. */
  session: { last: Seq; head: Seq; notice: string } | null;
}

export interface LinkWords {
  kind: "offline" | "reconnecting" | "gone" | "back" | "catching_up" | "notice";
  title: string;
  text: string;
  canTry: boolean;
}

/** So many records behind is worth a word. */
const farBehind = 200;
/** After so long it is more than a hiccup: say what to look at. */
const goneAfter = 20_000;

export function linkWords(facts: LinkFacts): LinkWords | null {
  const { link, session } = facts;
  if (link.name === "down" && facts.isDropShown) return downWords(facts, link);
  if (facts.isBack) return { kind: "back", title: "Connected again", text: "Nothing was lost.", canTry: false };
  if (!session) return null;
  const left = session.head - session.last;
  if (left >= farBehind) return { kind: "catching_up", title: "Catching up", text: `${count(left)} events left.`, canTry: false };
  if (session.notice) return { kind: "notice", title: session.notice, text: "", canTry: false };
  return null;
}

function downWords(facts: LinkFacts, link: Extract<ConnectionState, { name: "down" }>): LinkWords {
  const last = facts.session ? `Last event #${count(facts.session.last)}. ` : "";
  const kept = "Nothing you type is lost.";
  if (facts.isOffline) return { kind: "offline", title: "Offline", text: `${last}This device has no network. ${kept}`, canTry: true };
  const seconds = Math.ceil((link.retryAt - facts.now) / 1000);
  const next = link.retryAt > 0 && seconds > 0 ? `Trying again in ${seconds} s. ` : "Trying now. ";
  if (facts.now - link.since < goneAfter) return { kind: "reconnecting", title: "Reconnecting", text: `${last}${next}${kept}`, canTry: true };
  return {
    kind: "gone", title: "The daemon does not answer", canTry: true,
    text: `${last}Agents go on without it. If it was stopped, perdure serve brings it back. ${next}`,
  };
}
