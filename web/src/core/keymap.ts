// The keys of the page: every command with its default keys. Pure. `mod` is ⌘ on a Mac and Ctrl
// elsewhere; keys separated by a space are pressed one after the other. Commands without a modifier
// are single letters, which can be turned off. Answers to questions never use single letters or
// other text that a person may type.

export interface KeyCommand {
  keys: string;
  what: string;
  group: "Everywhere" | "Transcript" | "Time" | "Answering" | "Workspace";
}

export const keyCommands = {
  "palette": { keys: "mod+k", what: "Commands, sessions, tasks", group: "Everywhere" },
  "search": { keys: "/", what: "Search all sessions", group: "Everywhere" },
  "go.inbox": { keys: "g i", what: "Go to the inbox", group: "Everywhere" },
  "go.tasks": { keys: "g t", what: "Go to the tasks", group: "Everywhere" },
  "go.settings": { keys: "g s", what: "Go to the settings", group: "Everywhere" },
  "new": { keys: "mod+shift+o", what: "New session", group: "Everywhere" },
  "keys": { keys: "?", what: "This list", group: "Everywhere" },
  "next": { keys: "j", what: "Next entry", group: "Transcript" },
  "previous": { keys: "k", what: "Previous entry", group: "Transcript" },
  "next.prompt": { keys: "J", what: "Next prompt", group: "Transcript" },
  "previous.prompt": { keys: "K", what: "Previous prompt", group: "Transcript" },
  "expand": { keys: "o", what: "Expand or collapse", group: "Transcript" },
  "copy.link": { keys: "c", what: "Copy a link to the entry", group: "Transcript" },
  "end": { keys: "End", what: "To the end", group: "Transcript" },
  "send": { keys: "mod+Enter", what: "Send the message", group: "Transcript" },
  "stop": { keys: "Escape", what: "Stop the agent (twice), or close", group: "Transcript" },
  "resume": { keys: "R", what: "Resume the agent", group: "Transcript" },
  "delete": { keys: "mod+shift+Backspace", what: "Delete the session", group: "Transcript" },
  "back.turn": { keys: "[", what: "One turn back in time", group: "Time" },
  "forward.turn": { keys: "]", what: "One turn forward", group: "Time" },
  "back.event": { keys: ",", what: "One event back", group: "Time" },
  "forward.event": { keys: ".", what: "One event forward", group: "Time" },
  "live": { keys: "L", what: "Back to live", group: "Time" },
  "allow": { keys: "mod+shift+Enter", what: "Allow once, or read on", group: "Answering" },
  "deny": { keys: "mod+.", what: "Deny", group: "Answering" },
  "tab.1": { keys: "1", what: "Changes", group: "Workspace" },
  "tab.2": { keys: "2", what: "Files", group: "Workspace" },
  "tab.3": { keys: "3", what: "Shell", group: "Workspace" },
  "tab.4": { keys: "4", what: "Events", group: "Workspace" },
  "tab.5": { keys: "5", what: "Details", group: "Workspace" },
  "shell": { keys: "ctrl+`", what: "Shell", group: "Workspace" },
  "changes": { keys: "d", what: "Changes", group: "Workspace" },
  "next.file": { keys: "n", what: "Next file", group: "Workspace" },
  "previous.file": { keys: "p", what: "Previous file", group: "Workspace" },
  "diff.style": { keys: "v", what: "Unified or split", group: "Workspace" },
} as const satisfies Record<string, KeyCommand>;

export type KeyName = keyof typeof keyCommands;
export const keyNames = Object.keys(keyCommands) as KeyName[];

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/**
 * One key press as text: `mod+k`, `J`, `?`, `ctrl+\``. Shift is written only with another modifier:
 * `J` already implies it.
 */
export function chordOf(event: Pressed, isMac: boolean): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const ctrl = isMac && event.ctrlKey;
  const isMeta = !isMac && event.metaKey;
  const bare = !mod && !ctrl && !event.altKey && !isMeta;
  if (bare) return event.key;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const parts = [mod ? "mod" : "", ctrl ? "ctrl" : "", isMeta ? "meta" : "", event.altKey ? "alt" : "", event.shiftKey ? "shift" : "", key];
  return parts.filter((part) => part !== "").join("+");
}

/** Normalizes keys: without a ⌘ key, Ctrl and mod are the same. */
export function normalKeys(keys: string, isMac: boolean): string {
  return isMac ? keys : keys.replaceAll("ctrl+", "mod+");
}

/** A single character without a modifier, which speech input may type (WCAG 2.1.4). */
export function isLetter(keys: string): boolean {
  return keys.split(" ").some((part) => part.length === 1);
}

/** Whether the command may have these keys: an answer needs a modifier with every press. */
export function mayHave(name: KeyName, keys: string): boolean {
  return keyCommands[name].group !== "Answering" || keys.split(" ").every((chord) => /^(?:mod|ctrl|meta|alt)\+/.test(chord));
}

const names: Record<string, [mac: string, other: string]> = {
  mod: ["⌘", "Ctrl"], ctrl: ["⌃", "Ctrl"], shift: ["⇧", "Shift"], alt: ["⌥", "Alt"], Enter: ["↵", "Enter"],
  Backspace: ["⌫", "Backspace"], Escape: ["Esc", "Esc"],
};

/** Keys for display: `⌘K`, `Ctrl K`, `g i`. */
export function keysShown(keys: string, isMac: boolean): string {
  return keys.split(" ").map((chord) => {
    const parts = chord === "+" ? ["+"] : chord.split("+");
    const shown = parts.map((part) => names[part]?.[isMac ? 0 : 1] ?? (parts.length > 1 ? part.toUpperCase() : part));
    return shown.join(isMac ? "" : " ");
  }).join(" ");
}

/** The command for a sequence of presses, "begins" if it starts one, or null. */
export function lookUp(presses: string[], bound: Map<string, KeyName>): KeyName | "begins" | null {
  const text = presses.join(" ");
  const found = bound.get(text);
  if (found) return found;
  for (const keys of bound.keys()) if (keys.startsWith(`${text} `)) return "begins";
  return null;
}
