import { describe, expect, it } from "vitest";
import { ago, compact, duration, durationShort } from "./time";

const now = new Date(2026, 10, 15, 14, 30, 0).getTime();
const before = (ms: number): number => now - ms;

describe("times as people read them", () => {
  it.each([
    [2_000, "just now", "now"],
    [41_000, "41 s ago", "now"],
    [4 * 60_000, "4 min ago", "4m"],
    [3 * 3_600_000, "3 h ago", "3h"],
    [13 * 3_600_000, "today 01:30", "01:30"],
    [26 * 3_600_000, "yesterday 12:30", "Sat"],
    [5 * 86_400_000, "Tuesday 14:30", "Tue"],
    [30 * 86_400_000, "16 Oct", "16 Oct"],
    [400 * 86_400_000, "11 Oct 2025", "11 Oct 2025"],
  ])("%i ms ago is %s and %s", (age, sentence, column) => {
    expect(ago(before(age), now)).toBe(sentence);
    expect(compact(before(age), now)).toBe(column);
  });

  it("says how long something took", () => {
    expect(duration(41_900)).toBe("41 s");
    expect(duration(134_000)).toBe("2 min 14 s");
    expect(durationShort(134_000)).toBe("2m 14s");
    expect(duration(2 * 86_400_000 + 4 * 3_600_000)).toBe("2 d 4 h");
  });
});
