// The audit trail in words. Unknown kinds and outcomes are shown by their own name.
import type { AuditEntry } from "./types";

const kinds: Record<string, string> = {
  "audit.lost": "Entries could not be written",
  "browser.sign_in": "Browser signed in",
  "browser.sign_out": "Browser signed out",
  "daemon.restart": "Daemon restarted",
  "daemon.start": "Daemon started",
  "daemon.stop": "Daemon stopped",
  "launch.create": "Sign-in link made",
  "question.answer": "Question answered",
  "remote.add": "Host added",
  "remote.change": "Host changed",
  "remote.remove": "Host removed",
  "request.refuse": "Request refused",
  "rule.add": "Rule added",
  "rule.answer": "Question answered by a rule",
  "rule.remove": "Rule removed",
  "session.delete": "Session deleted",
  "session.export": "Session exported",
  "session.import": "Session imported",
  "session.redact": "Record redacted",
  "sign_in.refuse": "Sign-in refused",
  "store.backup": "Backup made",
  "store.gc": "Leftovers removed",
  "token.create": "Token made",
  "token.revoke": "Token revoked",
  "token.use": "Token used for the first time",
  "wait.answer": "Question answered by a wait token",
};

export function auditTitle(entry: AuditEntry): string {
  const name = kinds[entry.what] ?? entry.what;
  return entry.count > 1 ? `${name}, ${String(entry.count)} times` : name;
}

/** Empty for an entry whose action began. */
export function auditOutcome(entry: AuditEntry): string {
  if (entry.outcome === "ok") return "";
  if (entry.outcome === "no_effect") return "no effect: answered before";
  const words = entry.outcome.replaceAll("_", " ");
  return entry.of === null ? words : `failed: ${words}`;
}

export function auditWho(entry: AuditEntry): string {
  const parts: string[] = [];
  if (entry.by !== "") parts.push(entry.how.startsWith("token ") ? entry.how : entry.by);
  if (entry.by !== "" && entry.how !== "" && !entry.how.startsWith("token ")) parts.push(entry.how);
  if (entry.from !== "" && !(entry.from === "unix" && entry.how === "unix socket")) parts.push(`from ${entry.from}`);
  if (entry.node !== null) parts.push(`on ${entry.node}`);
  return parts.join(", ");
}

/** Newest first and without duplicates, even if two reads overlap. */
export function joinEntries(old: readonly AuditEntry[], read: readonly AuditEntry[]): AuditEntry[] {
  const all = new Map<number, AuditEntry>();
  for (const entry of [...old, ...read]) all.set(entry.seq, entry);
  return [...all.values()].sort((a, b) => b.seq - a.seq);
}
