// What is being written, kept per session in this browser's storage, and which queued message is being
// changed, if any. Others put text into it: line comments, explanations.
import type { Queued } from "../core/types";
import { readStored, writeStored } from "../state/settings.svelte";

const name = (session: string): string => `perdure.draft.${session}`;

export class Drafting {
  text = $state("");
  editing = $state.raw<Queued | null>(null);
  focus: () => void = () => {};
  hasBegun = false; // since the session opened, the composer has had the focus, or a person clicked elsewhere
  #before = ""; // the draft under an edit
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

  // Adds a paragraph: a comment on a line, an explanation.
  add(text: string): void {
    this.set(this.text.trim() === "" ? text : `${this.text.trimEnd()}\n\n${text}`);
    this.focus();
  }
}
