// The whole records of a row: a tool's diffs, locations and raw input. Records seen live are kept;
// the rest is fetched, once per revision of a row.
import type { EventsPage, MessageRow, RecordEnvelope, Row, Seq } from "./types";

type Read = (ask: { after: Seq; limit: number; kind: string }) => Promise<EventsPage>;
const keptMax = 2000;

export class ToolRecords {
  private readonly seen = new Map<string, RecordEnvelope[]>();
  private readonly asked = new Map<string, Promise<RecordEnvelope[]>>();
  private kept = 0;

  constructor(private readonly read: Read) {}

  clear(): void {
    this.seen.clear();
    this.asked.clear();
    this.kept = 0;
  }

  saw(record: RecordEnvelope): void {
    if (record.kind !== "tool.call" && record.kind !== "tool.update") return;
    if (this.kept >= keptMax) this.clear();
    const id = String(record["tool_call_id"] ?? "");
    if (record.kind === "tool.call") this.seen.set(id, [record]);
    else this.seen.get(id)?.push(record);
    this.kept += 1;
  }

  of(row: Row): Promise<RecordEnvelope[]> {
    if (row.role === "mark") return Promise.resolve([row.record]);
    const live = this.seen.get(row.tool_call_id)?.filter((record) => record.seq <= row.rev);
    const first = live?.[0]?.seq;
    if (live && first !== undefined && first <= row.seq && row.tool_call_id) return Promise.resolve(live);
    const name = `${row.id}@${row.rev}`;
    const known = this.asked.get(name);
    if (known) return known;
    const asked = this.fetch(row);
    this.asked.set(name, asked);
    asked.catch(() => this.asked.delete(name));
    return asked;
  }

  private async fetch(row: MessageRow): Promise<RecordEnvelope[]> {
    const isTool = row.tool_call_id !== "";
    const out: RecordEnvelope[] = [];
    for (let after = row.seq - 1; after < row.rev; ) {
      const page = await this.read({ after, limit: Math.min(200, row.rev - after), kind: isTool ? "tool" : "message" });
      for (const record of page.events) {
        if (record.seq <= row.rev && (!isTool || record["tool_call_id"] === row.tool_call_id)) out.push(record);
      }
      if (!page.more || page.last <= after) break;
      after = page.last;
    }
    return out;
  }
}
