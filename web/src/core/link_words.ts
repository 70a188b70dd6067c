// The text of the connection line, or none. Pure, so that tests cover every state.
import type { ConnectionState } from "./connection";
import { count } from "./text";
import type { Seq } from "./types";

export interface LinkFacts {
  link: ConnectionState;
  /** The drop has lasted three seconds. */
  isDropShown: boolean;
  /** The browser reports no network. */
  isOffline: boolean;
  /** The daemon came back a moment ago, after a drop that was shown. */
  isBack: boolean;
  now: number;
  /** The session on the screen; null: none. */
  session: { last: Seq; head: Seq; notice: string } | null;
}

export interface LinkWords {
  kind: "offline" | "reconnecting" | "gone" | "back" | "catching_up" | "notice";
  title: string;
  text: string;
  canTry: boolean;
}

/** The line is shown from this many missing records. */
const farBehind = 200;
/** After this many ms the drop is not a hiccup: say what to check. */
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
