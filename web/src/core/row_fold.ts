// Folds records into rows, by the rules of src/session/transcript.cc. A fold can start in the
// middle, from rows that the daemon folded: `load` restores its state. A fragment is a piece of
// older rows: records change its rows but add none.
import { foldClass, isMark } from "./fold_class";
import { emptyMessage } from "./rows";
import type { MessageRow, Outcome, RecordEnvelope, Role, Row, Seq } from "./types";

interface Cell {
  row: Row;
}
/** A tool's rows; `older`: the row exists, but before the loaded part. */
interface Tool {
  call: Cell | "older" | null;
  result: Cell | "older" | null;
}

export interface Asked {
  /** The last record that mentioned it. */
  seq: Seq;
  gives: boolean;
}

const text = (record: RecordEnvelope, field: string): string => {
  const value = record[field];
  return typeof value === "string" ? value : "";
};
const isEnd = (status: string): boolean => status === "completed" || status === "failed" || status === "cancelled";
const isCell = (cell: Cell | "older" | null): cell is Cell => cell !== null && cell !== "older";

export function rowBefore(a: Row, b: Row): number {
  return a.seq - b.seq || Number(a.role === "tool_result") - Number(b.role === "tool_result");
}

/** Output to append; only an update carries it. */
function addedOutput(record: RecordEnvelope): string {
  return record.kind === "tool.update" ? text(record, "added") : "";
}

export class RowFold {
  private cells: Cell[] = [];
  private readonly byId = new Map<string, Cell>();
  private tools = new Map<string, Tool>();
  private open = new Set<Cell>();
  private streaming: Cell | null = null;
  private lastAssistant: Cell | null = null;
  private lastMessage: Cell | null = null;
  /** The last record that ended everything; 0: before the loaded part. */
  private segment: Seq = 0;
  private isWhole = true;
  /** Tools that only older rows can describe: a page of rows must be fetched. */
  readonly asked = new Map<string, Asked>();

  constructor(private readonly isFragment = false) {}

  get segmentSeq(): Seq {
    return this.segment;
  }
  get first(): Seq {
    return this.cells[0]?.row.seq ?? 0;
  }
  get size(): number {
    return this.cells.length;
  }
  has(id: string): boolean {
    return this.byId.has(id);
  }
  rows(): Row[] {
    return this.cells.map((cell) => cell.row);
  }

  /** Loads rows as the daemon folded them, and the record from which on they may still change. */
  load(rows: Row[], segment: Seq, hasOlder: boolean): void {
    this.segment = segment;
    this.isWhole = !hasOlder || (rows[0]?.seq ?? 0) <= segment;
    for (const row of rows) this.remember({ row });
    const last = this.lastMessage;
    if (last?.row.role === "assistant" && last.row.outcome === "open") this.streaming = last;
  }

  private remember(cell: Cell): void {
    const row = cell.row;
    this.cells.push(cell);
    this.byId.set(row.id, cell);
    if (row.role === "mark") return;
    this.lastMessage = cell;
    if (row.outcome === "open") this.open.add(cell);
    if (row.seq < this.segment) return;
    if (row.role === "assistant") this.lastAssistant = cell;
    if (row.role === "tool_call") this.tools.set(row.tool_call_id, { call: cell, result: null });
    if (row.role === "tool_result") this.linkResult(row.tool_call_id, cell);
  }

  private linkResult(id: string, cell: Cell): void {
    const tool = this.tools.get(id);
    if (tool && tool.result === null) tool.result = cell;
    else this.tools.set(id, { call: "older", result: cell });
  }

  apply(record: RecordEnvelope): void {
    this.close(foldClass(record), record.seq);
    switch (record.kind) {
      case "message.user": return this.addUser(record);
      case "message.agent": return this.addChunk(record, false);
      case "message.thought": return this.addChunk(record, true);
      case "tool.call":
      case "tool.update": return this.addTool(record);
      case "repair.closed_tool": return this.closeTool(record);
      case "repair.closed_message": return this.closeMessage(record);
    }
    if (isMark(record) && !this.isFragment) {
      this.remember({ row: { id: String(record.seq), seq: record.seq, rev: record.seq, role: "mark", record } });
    }
  }

  /**
   * Adds older rows, already brought up to this fold's position. Rows that are present stay as they
   * are.
   */
  adopt(fragment: RowFold, hasOlder: boolean): void {
    const added = fragment.cells.filter((cell) => !this.byId.has(cell.row.id));
    if (added.length > 0) {
      this.cells = [...this.cells, ...added].sort((a, b) => rowBefore(a.row, b.row));
      for (const cell of added) {
        this.byId.set(cell.row.id, cell);
        if (fragment.open.has(cell)) this.open.add(cell);
      }
    }
    for (const [id, tool] of fragment.tools) this.adoptTool(id, tool);
    this.segment = Math.max(this.segment, fragment.segment);
    this.isWhole = this.isWhole || !hasOlder || this.first <= this.segment;
    this.lastMessage = this.cells.findLast((cell) => cell.row.role !== "mark") ?? null;
  }

  /** Names of the tools that these rows called up to `seq`. */
  calledUpTo(seq: Seq): Set<string> {
    const out = new Set<string>();
    for (const { row } of this.cells) if (row.role === "tool_call" && row.seq <= seq) out.add(row.tool_call_id);
    return out;
  }
  /** These names were called again after this fragment: later records belong to those calls. */
  forgetTools(ids: Set<string>): void {
    for (const id of ids) this.tools.delete(id);
  }

  private adoptTool(id: string, tool: Tool): void {
    const mine = this.tools.get(id);
    if (!mine) {
      this.tools.set(id, tool);
      return;
    }
    // A call in this fold is a later one with the same name: rows before it belong to another tool.
    if (isCell(mine.call)) return;
    mine.call = tool.call;
    if (!isCell(mine.result) && isCell(tool.result)) mine.result = tool.result;
  }

  /**
   * Call after loading rows as of a record: requested tools that are not in them lie further back.
   */
  settleAsked(asked: Map<string, Asked>, asOf: Seq): void {
    for (const [id, { seq, gives }] of this.isWhole ? [] : asked) {
      if (seq > asOf) continue;
      const tool = this.tools.get(id) ?? { call: "older", result: null };
      // A result never comes before its call.
      if (gives && !isCell(tool.call)) tool.result ??= "older";
      this.tools.set(id, tool);
    }
  }

  private close(next: ReturnType<typeof foldClass>, seq: Seq): void {
    if (next !== "flush" && next !== "segment") return;
    this.flush();
    if (next !== "segment") return;
    // The outcome of these tools was never reported and never will be.
    for (const cell of this.open) this.settle(cell, "unknown");
    this.open.clear();
    this.tools.clear();
    this.asked.clear();
    this.lastAssistant = null;
    this.segment = seq;
    this.isWhole = true;
  }

  private flush(): void {
    if (!this.streaming) return;
    this.settle(this.streaming, "done");
    this.open.delete(this.streaming);
    this.streaming = null;
  }

  private settle(cell: Cell, outcome: Outcome, rev?: Seq): void {
    const row = cell.row as MessageRow;
    const thinking_complete = row.thinking_complete || row.thinking !== "";
    cell.row = { ...row, outcome, thinking_complete, rev: rev ?? row.rev };
  }

  private begin(record: RecordEnvelope, role: Role, fields: Partial<MessageRow>): Cell {
    const row: MessageRow = {
      ...emptyMessage(),
      id: role === "tool_result" ? `${record.seq}.result` : String(record.seq),
      seq: record.seq, rev: record.seq, role, timestamp: record.ts,
      run_id: record.run_id ?? "", after_run: record.after_run ?? "", ...fields,
    };
    const cell = { row };
    this.cells.push(cell);
    this.byId.set(row.id, cell);
    this.lastMessage = cell;
    if (row.outcome === "open") this.open.add(cell);
    return cell;
  }

  private addUser(record: RecordEnvelope): void {
    if (this.isFragment) return;
    this.begin(record, "user", {
      content: text(record, "content"), message_id: text(record, "message_id"), steered: record["steered"] === true,
      blocks: record["blocks"] ?? null,
    });
  }

  private addChunk(record: RecordEnvelope, isThought: boolean): void {
    const piece = text(record, "text");
    if (piece === "" || this.isFragment) return;
    const id = text(record, "agent_message_id");
    if (this.streaming) {
      // Agents number thoughts and messages separately, so each is compared with its own kind.
      const row = this.streaming.row as MessageRow;
      const known = isThought ? row.agent_thought_id : row.agent_message_id;
      if (known && id && known !== id) this.flush();
    }
    this.streaming ??= this.lastAssistant = this.begin(record, "assistant", { outcome: "open" });
    const row = this.streaming.row as MessageRow;
    const now: Partial<MessageRow> = isThought
      ? { thinking: row.thinking + piece, thinking_complete: false, agent_thought_id: id || row.agent_thought_id }
      : { content: row.content + piece, thinking_complete: row.thinking !== "", agent_message_id: id || row.agent_message_id };
    this.streaming.row = { ...row, ...now, rev: record.seq };
  }

  // A call starts a row; an update changes the existing row or starts it. The first record with
  // output or an end starts the result.
  private addTool(record: RecordEnvelope): void {
    const id = text(record, "tool_call_id");
    const ends = isEnd(text(record, "status"));
    const gives = ends || text(record, "text") !== "" || addedOutput(record) !== "";
    const tool = record.kind === "tool.call" ? this.newCall(record, id) : this.toolFor(record, id, gives);
    if (!tool) return;
    if (gives && tool.result === null && !this.isFragment) {
      tool.result = this.begin(record, "tool_result", { tool_call_id: id, outcome: "open" });
    }
    if (isCell(tool.call)) this.changeCall(tool.call, record, ends);
    if (isCell(tool.result)) this.changeResult(tool.result, tool.call, record, { gives, ends });
  }

  private newCall(record: RecordEnvelope, id: string): Tool | null {
    this.asked.delete(id);
    this.tools.delete(id);
    if (this.isFragment) return null;
    const tool: Tool = { call: this.begin(record, "tool_call", { tool_call_id: id, outcome: "open" }), result: null };
    this.tools.set(id, tool);
    return tool;
  }

  private toolFor(record: RecordEnvelope, id: string, gives: boolean): Tool | null {
    const known = this.tools.get(id);
    if (this.isFragment) return known ?? null;
    const isUnsure = known ? known.call === "older" && known.result === null && gives : !this.isWhole;
    if (this.asked.has(id) || isUnsure) {
      this.asked.set(id, { seq: record.seq, gives: gives || this.asked.get(id)?.gives === true });
      return null;
    }
    return known ?? this.newCall(record, id);
  }

  private changeCall(cell: Cell, record: RecordEnvelope, ends: boolean): void {
    const row = cell.row as MessageRow;
    cell.row = {
      ...row, rev: record.seq,
      title: text(record, "title") || row.title,
      tool_kind: text(record, "tool_kind") || row.tool_kind,
      status: text(record, "status") || row.status,
      content: text(record, "input") || row.content,
      outcome: ends ? "done" : row.outcome,
    };
    if (ends) this.open.delete(cell);
  }

  private changeResult(cell: Cell, call: Tool["call"], record: RecordEnvelope, does: { gives: boolean; ends: boolean }): void {
    const row = cell.row as MessageRow;
    const like = isCell(call) ? (call.row as MessageRow) : null;
    cell.row = {
      ...row, rev: does.gives ? record.seq : row.rev,
      content: (text(record, "text") || row.content) + addedOutput(record),
      title: like ? like.title : text(record, "title") || row.title,
      tool_kind: like ? like.tool_kind : text(record, "tool_kind") || row.tool_kind,
      status: like ? like.status : text(record, "status") || row.status,
      outcome: does.ends ? "done" : row.outcome,
    };
    if (does.ends) this.open.delete(cell);
  }

  private closeTool(record: RecordEnvelope): void {
    const tool = this.tools.get(text(record, "tool_call_id"));
    for (const cell of tool ? [tool.call, tool.result] : []) {
      if (!isCell(cell)) continue;
      this.settle(cell, "unknown", record.seq);
      this.open.delete(cell);
    }
  }

  // A message is complete once something follows it.
  private closeMessage(record: RecordEnvelope): void {
    if (this.isFragment || !this.lastAssistant || this.lastAssistant !== this.lastMessage) return;
    this.settle(this.lastAssistant, "interrupted", record.seq);
    this.open.delete(this.lastAssistant);
  }
}
