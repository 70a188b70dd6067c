import { describe, expect, it } from "vitest";
import { Pace, type PaceClock } from "./pace";

function scripted() {
  let now = 0;
  let due: { at: number; run: () => void } | null = null;
  const clock: PaceClock = { now: () => now, after: (ms, run) => (due = { at: now + ms, run }), stop: () => (due = null) };
  const pass = (ms: number): void => {
    now += ms;
    if (due && due.at <= now) {
      const { run } = due;
      due = null;
      run();
    }
  };
  return { clock, pass, spend: (ms: number) => (now += ms) };
}

describe("pace", () => {
  it("draws the first change at once and gathers the rest", () => {
    const { clock, pass } = scripted();
    let drawn = 0;
    const pace = new Pace(() => (drawn += 1), false, clock);
    pace.ask();
    expect(drawn).toBe(1);
    for (let i = 0; i < 10; i += 1) pace.ask();
    pass(32);
    expect(drawn).toBe(1);
    pass(1);
    expect(drawn).toBe(2);
  });
  it("doubles while drawing is dear", () => {
    const { clock, pass, spend } = scripted();
    let cost = 9;
    const pace = new Pace(() => spend(cost), true, clock);
    expect(pace.interval).toBe(50);
    pace.ask();
    expect(pace.interval).toBe(100);
    cost = 1;
    pace.ask();
    pass(100);
    expect(pace.interval).toBe(50);
  });
  it("ends", () => {
    const { clock, pass } = scripted();
    let drawn = 0;
    const pace = new Pace(() => (drawn += 1), false, clock);
    pace.ask();
    pace.ask();
    pace.end();
    pass(100);
    expect(drawn).toBe(1);
  });
});
