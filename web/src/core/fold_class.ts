// What a record does to the transcript before its own content is looked at. The same table as fold_class() of
// src/session/transcript.cc; tests/shared/rows_cases.json holds both to it.
import type { RecordEnvelope } from "./types";

export type FoldClass =
  /** Bookkeeping and unknown kinds: a message streams on across it. */
  | "transparent"
  /** A piece of an assistant's message. */
  | "chunk"
  /** Ends the message that streams. */
  | "flush"
  /** Ends everything: no later record reaches behind it. */
  | "segment";

const segment = new Set([
  "session.created", "session.stopped", "executor.starting", "run.started", "run.completed", "run.failed", "run.cancelled",
  "run.interrupted",
]);

const flush = new Set([
  "session.archived", "session.unarchived", "executor.ready", "executor.error", "executor.stopped", "agent.started",
  "agent.exited", "context.boundary", "context.attempt", "context.injected", "resume.failed", "run.retried", "run.waiting",
  "run.resumed", "tool.call", "tool.update", "plan", "permission.requested", "permission.resolved", "repair.closed_message",
  "repair.closed_tool", "repair.truncated",
]);

const marks = new Set([
  "context.boundary", "permission.requested", "executor.reattached", "session.stopped", "run.failed", "run.interrupted",
  "resume.failed", "executor.error",
]);

export function foldClass(record: RecordEnvelope): FoldClass {
  switch (record.kind) {
    case "message.agent":
    case "message.thought": return record["text"] ? "chunk" : "transparent";
    case "message.user": return record["steered"] ? "flush" : "segment";
  }
  if (segment.has(record.kind)) return "segment";
  return flush.has(record.kind) ? "flush" : "transparent";
}

/** Whether the record is a row of its own: something that happened between messages. */
export function isMark(record: RecordEnvelope): boolean {
  return marks.has(record.kind);
}
