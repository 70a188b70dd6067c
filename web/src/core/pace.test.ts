import { describe, expect, it } from "vitest";
import { Pace } from "./pace";

describe("pace", () => {
  it("is the usual one while updates are cheap", () => {
    const pace = new Pace(33);
    expect(pace.pause).toBe(33);
    for (let count = 0; count < 50; count += 1) pace.took(1);
    expect(pace.pause).toBe(33);
  });

  it("slows down with what updates take, never beyond a limit, and recovers", () => {
    const pace = new Pace(33);
    for (let count = 0; count < 50; count += 1) pace.took(5);
    expect(pace.pause).toBeGreaterThan(70);
    for (let count = 0; count < 50; count += 1) pace.took(500);
    expect(pace.pause).toBe(150);
    for (let count = 0; count < 50; count += 1) pace.took(0.5);
    expect(pace.pause).toBe(33);
  });

  it("is not impressed by one slow update", () => {
    const pace = new Pace(33);
    pace.took(6);
    expect(pace.pause).toBe(33);
  });
});
