// @vitest-environment happy-dom
// The daemon makes the parts from the same cases: src/wire/question_parts_test.cc. Here each of them has to be shown.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mount, flushSync, unmount } from "svelte";
import { describe, expect, it } from "vitest";
import Asked from "../content/Asked.svelte";
import { questionOf } from "./question";
import type { ShownQuestion } from "./types";

interface Case { name: string; shown: ShownQuestion }
const file = join(import.meta.dirname, "../../../tests/shared/question_cases.json");
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };

describe("what is asked", () => {
  it.each(cases)("$name", async ({ shown }) => {
    const question = questionOf(shown);
    expect(question.isWhole).toBe(shown.is_whole);
    const target = document.createElement("div");
    const asked = mount(Asked, { target, props: { question } });
    flushSync();
    const files = shown.parts.some((part) => part.kind === "diff");
    if (files) await expect.poll(() => target.querySelector(".file")).not.toBeNull();
    const words = `${question.title}\n${question.heading}\n${target.textContent}`;
    for (const part of shown.parts) {
      const inFiles = part.kind === "diff" ? [...part.text.split("\n"), ...(part.before ?? "").split("\n"), part.label] : [];
      const named = part.kind === "value" ? [part.label] : [];
      for (const text of part.kind === "diff" ? inFiles : [part.text, ...named]) expect(words).toContain(text);
    }
    if (shown.title) expect(words).toContain(shown.title.replaceAll("`", ""));
    await unmount(asked);
  });
});
