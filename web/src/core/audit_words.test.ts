import { describe, expect, it } from "vitest";
import { auditOutcome, auditTitle, auditWho, joinEntries } from "./audit_words";
import type { AuditEntry } from "./types";

function entry(seq: number, more: Partial<AuditEntry> = {}): AuditEntry {
  return { seq, ts: "2026-11-18T20:00:00.000Z", what: "token.create", by: "uid:1000", how: "unix socket", from: "unix", on: [], outcome: "ok", text: "", count: 1, of: null, node: null, ...more };
}

describe("the audit trail in words", () => {
  it("names what happened, and an unknown kind by itself", () => {
    expect(auditTitle(entry(1))).toBe("Token made");
    expect(auditTitle(entry(1, { what: "sign_in.refuse", count: 12 }))).toBe("Sign-in refused, 12 times");
    expect(auditTitle(entry(1, { what: "later.kind" }))).toBe("later.kind");
  });
  it("says how it ended only where it did not simply begin", () => {
    expect(auditOutcome(entry(1))).toBe("");
    expect(auditOutcome(entry(2, { outcome: "not_found", of: 1 }))).toBe("failed: not found");
    expect(auditOutcome(entry(2, { outcome: "no_effect", of: 1 }))).toBe("no effect: answered before");
    expect(auditOutcome(entry(2, { outcome: "unauthenticated" }))).toBe("unauthenticated");
  });
  it("says who, how and from where", () => {
    expect(auditWho(entry(1))).toBe("uid:1000, unix socket");
    expect(auditWho(entry(1, { by: "token:tok_1", how: 'token "ci"', from: "10.0.0.7" }))).toBe('token "ci", from 10.0.0.7');
    expect(auditWho(entry(1, { by: "", how: "", from: "10.0.0.7", node: "b" }))).toBe("from 10.0.0.7, on b");
  });
  it("keeps each entry once, newest first", () => {
    expect(joinEntries([entry(3), entry(2)], [entry(2), entry(5)]).map((one) => one.seq)).toEqual([5, 3, 2]);
  });
});
