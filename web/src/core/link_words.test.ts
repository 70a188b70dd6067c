import { describe, expect, it } from "vitest";
import { linkWords, type LinkFacts } from "./link_words";

const facts = (some: Partial<LinkFacts>): LinkFacts => ({
  link: { name: "live" }, isDropShown: false, isOffline: false, isBack: false, now: 100_000, session: null, ...some,
});
const down = (since: number): LinkFacts["link"] => ({ name: "down", since, retryAt: 104_000, attempt: 3 });

describe("the connection line", () => {
  it("says nothing while all is well, and of a short drop", () => {
    expect(linkWords(facts({}))).toBe(null);
    expect(linkWords(facts({ link: down(99_000) }))).toBe(null);
  });
  it("names the last event and the next attempt", () => {
    const words = linkWords(facts({ link: down(95_000), isDropShown: true, session: { last: 18_474, head: 18_474, notice: "" } }));
    expect(words).toMatchObject({ kind: "reconnecting", canTry: true, text: "Last event #18,474. Trying again in 4 s. Nothing you type is lost." });
  });
  it("tells no network from no daemon", () => {
    expect(linkWords(facts({ link: down(95_000), isDropShown: true, isOffline: true }))?.kind).toBe("offline");
    expect(linkWords(facts({ link: down(70_000), isDropShown: true }))?.kind).toBe("gone");
  });
  it("counts what is left, and speaks of a replaced log", () => {
    expect(linkWords(facts({ session: { last: 10, head: 390, notice: "" } }))?.text).toBe("380 events left.");
    expect(linkWords(facts({ session: { last: 10, head: 12, notice: "" } }))).toBe(null);
    expect(linkWords(facts({ session: { last: 10, head: 10, notice: "Reloaded" } }))?.title).toBe("Reloaded");
    expect(linkWords(facts({ isBack: true }))?.kind).toBe("back");
  });
});
