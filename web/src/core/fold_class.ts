// A record's effect on the transcript, decided before its content is read. The same table as
// fold_class() of src/session/transcript.cc; tests/shared/rows_cases.json checks both.
import type { RecordEnvelope } from "./types";

export type FoldClass =
  /** Bookkeeping and unknown kinds: a streaming message continues across it. */
  | "transparent"
  /** A piece of an assistant's message. */
  | "chunk"
  /** Ends the streaming message. */
  | "flush"
  /** Ends everything: no later record changes a row before it. */
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

/** Whether the record is a row of its own, such as a stop or a failure between messages. */
export function isMark(record: RecordEnvelope): boolean {
  return marks.has(record.kind);
}
