// What a permission asks for, read from its record, and its answers in an order that never changes: allow
// once, allow more, deny, deny more. What is unknown stays where the agent put it, behind these.
import type { PermissionOption, RecordEnvelope } from "../core/types";
import { detailOf, type TextDiff } from "./tool_detail";

export interface Asked {
  readonly heading: string; // "wants to run a command"
  readonly command: string; // shown whole
  readonly cwd: string;
  readonly diffs: readonly TextDiff[];
  readonly reason: string; // what the agent says about it
  readonly input: string; // raw input where there is neither command nor diff
}

const headings: Readonly<Record<string, string>> = {
  execute: "wants to run a command", edit: "wants to change a file", delete: "wants to delete a file", move: "wants to move a file",
  fetch: "wants to fetch a page", read: "wants to read a file", search: "wants to search", switch_mode: "wants to change its mode",
};

export function askedOf(record: RecordEnvelope | null, title: string): Asked {
  const update = (record?.["update"] ?? {}) as { toolCall?: Record<string, unknown> };
  const call = update.toolCall ?? {};
  const kind = typeof call["kind"] === "string" ? call["kind"] : "";
  const detail = record ? detailOf([{ ...record, update: call, input: "" }]) : null;
  const isCommand = Boolean(detail?.command);
  return {
    heading: headings[isCommand && !kind ? "execute" : kind] ?? "asks for permission",
    command: detail?.command || (detail?.diffs.length ? "" : title.replace(/^`([\s\S]*)`$/, "$1")),
    cwd: detail?.cwd ?? "",
    diffs: detail?.diffs ?? [],
    reason: detail?.output ?? "",
    input: !isCommand && !detail?.diffs.length ? (detail?.input ?? "") : "",
  };
}

const order = ["allow_once", "allow_always", "reject_once", "reject_always"];
const rank = (option: PermissionOption): number => {
  const at = order.indexOf(option.kind);
  return at < 0 ? order.length : at;
};

export function inOrder(options: readonly PermissionOption[]): PermissionOption[] {
  return options.map((option, index) => ({ option, index })).sort((a, b) => rank(a.option) - rank(b.option) || a.index - b.index).map(({ option }) => option);
}

export const isAllow = (option: PermissionOption): boolean => option.kind.startsWith("allow");
export const isDeny = (option: PermissionOption): boolean => option.kind.startsWith("reject");

const keys: Readonly<Record<string, string>> = { allow_once: "Y", allow_always: "A", reject_once: "N" };
export function keyOf(option: PermissionOption): string {
  return keys[option.kind] ?? "";
}
