// The draft, stored per session in this browser, and the queued message being edited, if any. Line
// comments and explanations are added to it.
import type { Queued } from "../core/types";
import { readStored, writeStored } from "../state/settings.svelte";

const name = (session: string): string => `perdure.draft.${session}`;

export class Drafting {
  text = $state("");
  editing = $state.raw<Queued | null>(null);
  focus: () => void = () => {};
  hasBegun = false; // the composer has had the focus since opening, or a person clicked elsewhere
  #before = ""; // the draft to restore after an edit
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly session: string) {
    this.text = readStored<string>(name(session)) ?? "";
  }

  set(text: string): void {
    this.text = text;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.keep(), 250);
  }
  keep(): void {
    clearTimeout(this.#timer);
    const draft = this.editing ? this.#before : this.text;
    writeStored(name(this.session), draft === "" ? null : draft);
  }
  clear(): void {
    this.text = this.editing ? this.#before : "";
    this.editing = null;
    this.keep();
  }

  editQueued(item: Queued): void {
    if (!this.editing) this.#before = this.text;
    this.editing = item;
    this.text = item.content ?? "";
    this.focus();
  }

  // Appends a paragraph: a line comment, an explanation.
  add(text: string): void {
    this.set(this.text.trim() === "" ? text : `${this.text.trimEnd()}\n\n${text}`);
    this.focus();
  }
}
