// The screen of a shell: xterm.js and its addons, in a chunk that loads with the first shell. Rule:
// colours come from the tokens, styles go through TerminalSheets, bytes are reported as shown only
// after they are.
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal, type ITheme } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { ShellSize } from "../core/shell";
import { TerminalSheets } from "./terminal_sheets";

export interface ScreenOptions {
  /** On a phone, input comes from the text field below, never from here. */
  displayOnly: boolean;
  screenReader: boolean;
  onInput(text: string): void;
  onResize(size: ShellSize): void;
}

const names = ["red", "green", "yellow", "blue", "magenta", "cyan"] as const;

function themeOf(element: Element): ITheme {
  const style = getComputedStyle(element);
  const token = (name: string): string => style.getPropertyValue(name).trim();
  const theme: Record<string, string> = {
    background: token("--term-bg"),
    foreground: token("--term-ink"),
    cursor: token("--term-ink"),
    cursorAccent: token("--term-bg"),
    selectionBackground: token("--term-raise"),
    black: token("--term-raise"),
    white: token("--term-ink"),
    brightBlack: token("--term-dim"),
    brightWhite: token("--term-ink"),
  };
  for (const name of names) {
    theme[name] = token(`--term-${name}`);
    theme[`bright${name[0]?.toUpperCase() ?? ""}${name.slice(1)}`] = token(`--term-${name}`);
  }
  return theme;
}

export class Screen {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #search = new SearchAddon();
  readonly #sheets = new TerminalSheets();
  readonly #parent: HTMLElement;
  readonly #watch: ResizeObserver;

  constructor(parent: HTMLElement, options: ScreenOptions) {
    this.#parent = parent;
    this.#terminal = new Terminal({
      allowProposedApi: true,
      cursorBlink: false,
      disableStdin: options.displayOnly,
      documentOverride: this.#sheets.document,
      fontFamily: getComputedStyle(parent).getPropertyValue("--mono"),
      fontSize: 13,
      lineHeight: 1.3,
      screenReaderMode: options.screenReader,
      scrollback: 10_000,
      theme: themeOf(parent),
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.loadAddon(this.#search);
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.loadAddon(new WebLinksAddon((_, uri) => window.open(uri, "_blank", "noopener,noreferrer")));
    this.#terminal.unicode.activeVersion = "11";
    this.#sheets.open(this.#terminal, parent);
    this.#terminal.onData(options.onInput);
    this.#terminal.onResize(({ cols, rows }) => options.onResize({ columns: cols, rows }));
    this.#watch = new ResizeObserver(() => this.fit());
    this.#watch.observe(parent);
    this.fit();
  }

  get size(): ShellSize {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }
  get selection(): string {
    return this.#terminal.getSelection();
  }

  /** A hidden terminal keeps its size, so that the shell is not resized to one column. */
  fit(): void {
    if (this.#parent.clientWidth > 40 && this.#parent.clientHeight > 20) this.#fit.fit();
  }
  write(bytes: Uint8Array | string, shown?: () => void): void {
    this.#terminal.write(bytes, shown);
  }
  find(text: string, back = false): boolean {
    return back ? this.#search.findPrevious(text) : this.#search.findNext(text, { incremental: false });
  }
  clearFind(): void {
    this.#search.clearDecorations();
    this.#terminal.clearSelection();
  }
  focus(): void {
    this.#terminal.focus();
  }
  recolour(): void {
    this.#terminal.options.theme = themeOf(this.#parent);
  }
  /** The screen and its scrollback as text. */
  text(): string {
    const buffer = this.#terminal.buffer.active;
    const lines: string[] = [];
    for (let at = 0; at < buffer.length; at++) lines.push(buffer.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }
  dispose(): void {
    this.#watch.disconnect();
    this.#terminal.dispose();
    this.#sheets.dispose();
  }
}
