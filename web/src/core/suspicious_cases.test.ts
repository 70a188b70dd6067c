// The command line marks the same characters; both sides are tested against one table.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { segments, type Care } from "./suspicious";

interface Case { name: string; text: string; prose: string[]; command: string[] }
const file = new URL("../../../tests/shared/deceptive_cases.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };
const codes = (text: string, care: Care): string[] => segments(text, care).flatMap((one) => (one.mark ? [one.mark.code] : []));

describe("deceptive characters", () => {
  it.each(cases)("$name", ({ text, prose, command }) => {
    expect(codes(text, "prose")).toEqual(prose);
    expect(codes(text, "command")).toEqual(command);
  });
});
