// The logic behind lists: side bar groups, session faces, announcements, palette matches.
import { describe, expect, it } from "vitest";
import { happenings } from "./changes_of_state";
import { groupsOf } from "./groups";
import { itemFace } from "./inbox_face";
import { choose } from "./palette";
import { faceOf } from "./session_face";
import { steady } from "./steady";
import type { Brief, InboxItem, Task } from "./types";

const brief = (some: Partial<Brief>): Brief => ({
  id: "s1", session_id: "s1", task_id: null, title: "One", agent: "demo", status: "idle", state: "WAITING_FOR_INPUT", stop_reason: null,
  cwd: null, created: null, updated: "2026-11-15T10:00:00Z", archived: false, pending: 0, pending_since: null, queue_length: 0,
  needs_resume: false, is_resumable: true, error_message: null, damaged: false, ...some,
});
const task = (id: string, created = "2026-11-15T09:00:00Z"): Task => ({
  id, task_id: id, title: id, description: "", state: "TODO", created, by: "", sessions: [],
});

describe("faces of sessions in a list", () => {
  it.each([
    [{}, "ready"],
    [{ status: "running", state: "RUNNING" }, "running"],
    [{ status: "waiting", pending: 1 }, "needs_answer"],
    [{ state: "STARTING" }, "agent_starting"],
    [{ status: "interrupted_startup", needs_resume: true }, "agent_stopped"],
    [{ status: "interrupted_startup", needs_resume: false }, "ready"],
    [{ status: "interrupted_startup", needs_resume: false, is_resumable: false }, "agent_stopped"],
    [{ state: "FAILED" }, "failed"],
    [{ state: "ERROR" }, "executor_error"],
    [{ state: "COMPLETED" }, "completed"],
    [{ state: "CANCELLED" }, "cancelled"],
    [{ damaged: true }, "damaged"],
  ] as [Partial<Brief>, string][])("%j is %s", (some, key) => {
    expect(faceOf(brief(some)).key).toBe(key);
  });
});

describe("groups of the side bar", () => {
  it("have the task that changed last first, and sessions without one at the end", () => {
    const groups = groupsOf(
      [task("t1"), task("t2"), task("t3", "2026-11-15T12:00:00Z")],
      [brief({ id: "a", task_id: "t2", updated: "2026-11-15T11:00:00Z" }), brief({ id: "b", task_id: "t1" }), brief({ id: "c" })],
    );
    expect(groups.map((group) => [group.id, group.sessions.map((session) => session.id)])).toEqual([
      ["t3", []], ["t2", ["a"]], ["t1", ["b"]], ["", ["c"]],
    ]);
  });
});

describe("what is said aloud", () => {
  const said = (was: Partial<Brief>, now: Partial<Brief>): string[] => happenings([brief(was)], [brief(now)]).map((one) => one.kind);
  it("is that somebody is asked, once for each question", () => {
    const asked = { status: "waiting", pending: 1, pending_since: "10:00" } as const;
    expect(said({ status: "running", state: "RUNNING" }, asked)).toEqual(["needs"]);
    expect(said(asked, { ...asked, title: "Two" })).toEqual([]);
    expect(said(asked, { ...asked, pending_since: "10:05" })).toEqual(["needs"]);
  });
  it("is that a turn is over, that an agent is gone, that something failed", () => {
    const running = { status: "running", state: "RUNNING" } as const;
    expect(said(running, {})).toEqual(["finished"]);
    expect(said(running, { needs_resume: true })).toEqual(["stopped"]);
    expect(said(running, { state: "FAILED" })).toEqual(["failed"]);
    expect(happenings([], [brief(running)])).toEqual([]);
  });
});

describe("items of the inbox", () => {
  const item = (kind: InboxItem["kind"]): InboxItem => ({ kind, session_id: "s1", session_title: "One", since: "" });
  it("say of a turn that was cut off whether its agent is still away", () => {
    expect(itemFace(item("interrupted"), brief({ needs_resume: true })).title).toBe("The agent is not running");
    expect(itemFace(item("interrupted"), brief({})).title).toBe("A turn was cut off");
  });
  it("never change places under a finger", () => {
    expect(steady(["b", "a"], ["x", "a", "b"], (one) => one)).toEqual(["b", "a", "x"]);
  });
});

describe("the palette", () => {
  const choices = ["Fix cursor and add tests", "Reproduce with a fixture", "Backfill script for EU"].map((label) => ({ id: label, label, detail: "" }));
  it("finds by a piece of a word, a beginning first", () => {
    expect(choose(choices, "fix", 9).map((one) => one.label)).toEqual(["Fix cursor and add tests", "Reproduce with a fixture"]);
  });
  it("finds by the first letters of words", () => {
    expect(choose(choices, "fca", 9)[0]?.label).toBe("Fix cursor and add tests");
    expect(choose(choices, "qqq", 9)).toEqual([]);
  });
});
