// Maps keys to commands. A component calls `keys.on("allow", …)` while it is mounted; the latest
// handler runs first and may pass to the next by returning false. Letters never fire while a person
// types.
import { chordOf, isLetter, keyCommands, keyNames, keysShown, lookUp, mayHave, normalKeys, type KeyName } from "../core/keymap";
import { app } from "./app.svelte";

type Handler = (event: KeyboardEvent) => boolean | void;
const prefixMs = 1200;

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest(".xterm")) return true;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "range"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

class Keys {
  /** The pressed part of a key sequence: shown in a corner. */
  prefix: string[] = $state.raw([]);
  private readonly handlers = new Map<KeyName, Handler[]>();
  private timer = 0;

  private readonly bound = $derived.by(() => {
    const out = new Map<string, KeyName>();
    for (const name of keyNames) {
      const keys = this.keysOf(name);
      if (keys && (app.settings.letters || !isLetter(keys))) out.set(normalKeys(keys, isMac), name);
    }
    // A capital letter on a button also works without Shift, unless the small letter has another
    // meaning.
    for (const [keys, name] of [...out]) {
      if (/^[A-Z]$/.test(keys) && !out.has(keys.toLowerCase())) out.set(keys.toLowerCase(), name);
    }
    return out;
  });

  /** The command's current keys; empty: none. */
  keysOf(name: KeyName): string {
    const own = app.settings.get("keys")[name];
    return own !== undefined && mayHave(name, own) ? own : keyCommands[name].keys;
  }
  /** For hints on buttons; empty if the keys are turned off. */
  hint(name: KeyName): string {
    const keys = this.keysOf(name);
    return keys && (app.settings.letters || !isLetter(keys)) ? keysShown(keys, isMac) : "";
  }
  /** In the format of `aria-keyshortcuts`; undefined: none. */
  aria(name: KeyName): string | undefined {
    const words: Record<string, string> = { mod: isMac ? "Meta" : "Control", ctrl: "Control", meta: "Meta", alt: "Alt", shift: "Shift" };
    const keys = this.keysOf(name);
    return this.hint(name) ? keys.split("+").map((part) => words[part] ?? part).join("+") : undefined;
  }
  /** Remaps a command; null: the default keys. */
  remap(name: KeyName, keys: string | null): void {
    const all = { ...app.settings.get("keys") };
    if (keys === null) delete all[name];
    else all[name] = keys;
    app.settings.set("keys", all);
  }

  /**
   * Active until the returned function is called. In a component: `$effect(() => keys.on("allow",
   * allow))`.
   */
  on(name: KeyName, handler: Handler): () => void {
    const all = this.handlers.get(name) ?? [];
    this.handlers.set(name, [handler, ...all]);
    return () => this.handlers.set(name, (this.handlers.get(name) ?? []).filter((other) => other !== handler));
  }

  /** Runs a command from the palette as if its keys were pressed. False: no handler took it. */
  run(name: KeyName, event: KeyboardEvent = new KeyboardEvent("keydown")): boolean {
    return (this.handlers.get(name) ?? []).some((handler) => handler(event) !== false);
  }
  has(name: KeyName): boolean {
    return (this.handlers.get(name) ?? []).length > 0;
  }

  listen(): () => void {
    const down = (event: KeyboardEvent): void => this.pressed(event);
    addEventListener("keydown", down);
    return () => removeEventListener("keydown", down);
  }

  private pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    const chord = chordOf(event, isMac);
    const isBare = !chord.includes("+") || chord === "+";
    if (isBare && isTyping(event.target)) return;
    if (isBare && document.querySelector("dialog[open]") && chord !== "?") return;
    const presses = [...this.prefix, chord];
    const found = lookUp(presses, this.bound);
    clearTimeout(this.timer);
    this.prefix = found === "begins" ? presses : [];
    if (found === "begins") this.timer = setTimeout(() => (this.prefix = []), prefixMs) as unknown as number;
    else if (found && this.run(found, event)) event.preventDefault();
  }
}

export const keys = new Keys();
