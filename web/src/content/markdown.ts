// Markdown of an agent, while it streams. Text is cut into blocks; only the last open one is read again when
// text is added. A long paragraph that still grows is not even that: what is added is read alone
// (long_paragraph.ts), and the whole of it once more when a line ends, at most every 150 ms, and less often where
// reading takes long. The last reading of a text is always the whole one, so that what is seen in the end
// does not hang on how the text came.
import { Lexer, type Token } from "marked";
import { LongParagraph, type Links } from "./long_paragraph";
import { blockOf, isClosedFence, type Block } from "./markdown_html";

export { safeHref, type Block, type CodeBlock, type HtmlBlock, type LongBlock } from "./markdown_html";

// Where the open part begins: the last block; and the one before as well while the last one's first
// line is not whole, since `*` may become `**bold**` and belong to what is above it.
function firstOpen(tokens: readonly Token[]): number {
  const before = (index: number): number => {
    while (index > 0 && tokens[index]?.type === "space") index -= 1;
    return index;
  };
  const last = before(tokens.length - 1);
  const whole = tokens.slice(Math.max(last, 0)).some((token) => token.raw.includes("\n"));
  if (whole || last <= 0) return last;
  const above = before(last - 1);
  const token = tokens[above];
  return token?.type === "code" && isClosedFence(token.raw) ? last : above;
}

// Only blank lines follow: more of this block may still come.
function isOpenEnd(tokens: readonly Token[], index: number): boolean {
  return tokens.slice(index + 1).every((token) => token.type === "space");
}

const longFrom = 1500; // an open paragraph of so many characters is long
const lineDecides = 200; // so much of a line in, what kind of block it is cannot change any more
const readAgain = 150; // ms between two readings of a long block
const share = 20; // and reading takes no more than this part of the time

// One message's markdown. `update` takes the whole text so far; it costs what was added.
export class StreamingMarkdown {
  #text = "";
  #stable = 0; // offset up to which blocks are final
  #blocks: Block[] = []; // final ones
  #tail: Block[] = []; // the others, as last given
  #links: Links = {};
  #long: LongParagraph | null = null;
  #readAt = 0; // when the open part was last read whole
  #cost = 0; // and how long that took
  #openKind = ""; // of the last token
  #lineStart = 0; // of the last line, as far as it was read

  constructor(private readonly now: () => number = () => performance.now()) {}

  // `live`: more of it will come.
  update(given: string, live = false): readonly Block[] {
    const text = given.includes("\r") ? given.replace(/\r\n?/g, "\n") : given;
    const grown = text.length >= this.#text.length && text.startsWith(this.#text.slice(-64), Math.max(0, this.#text.length - 64));
    if (!grown) this.#reset();
    const added = text.slice(this.#text.length);
    this.#text = text;
    if (live && this.#long && this.#mayAppend(this.#long, added)) return this.#appended(this.#long, added);
    return this.#whole(live);
  }

  // Text of the same line belongs to the same paragraph. A new line may end it: its kind of blocks, and not yet what
  // is in them, is read again now and then, and at once behind an empty line.
  #mayAppend(long: LongParagraph, added: string): boolean {
    const newLine = added.lastIndexOf("\n");
    if (newLine < 0 && this.#text.length - this.#lineStart > lineDecides) return true;
    if (newLine >= 0) this.#lineStart = this.#text.length - added.length + newLine + 1;
    const begin = this.now();
    const ends = /\n\s*\n/.test(this.#text.slice(-added.length - 2));
    if (!ends && begin - this.#readAt < Math.max(readAgain, this.#cost * share)) return true;
    const tokens = new Lexer({ gfm: true, breaks: false }).blockTokens(this.#text.slice(long.key));
    this.#readAt = this.now();
    this.#cost = this.#readAt - begin;
    return tokens.length === 1 && tokens[0]?.type === "paragraph";
  }

  #appended(long: LongParagraph, added: string): readonly Block[] {
    if (added !== "") long.add(added);
    return [...this.#blocks, ...this.#tail.slice(0, -1), long.block];
  }

  #whole(live: boolean): readonly Block[] {
    const begin = this.now();
    const blocks = this.#parse();
    this.#readAt = this.now();
    this.#cost = this.#readAt - begin;
    this.#long = null;
    const last = this.#tail.at(-1);
    if (!live || last?.kind !== "html" || this.#openKind !== "paragraph" || this.#text.length - last.key < longFrom) return blocks;
    this.#lineStart = this.#text.lastIndexOf("\n") + 1;
    this.#long = new LongParagraph(last.key, this.#text.slice(last.key), this.#links);
    return this.#appended(this.#long, "");
  }

  #reset(): void {
    this.#stable = 0;
    this.#blocks = [];
    this.#links = {};
    this.#long = null;
    this.#text = "";
  }

  #lex(): Token[] {
    const lexer = new Lexer({ gfm: true, breaks: false });
    Object.assign(lexer.tokens.links, this.#links);
    const tokens = lexer.lex(this.#text.slice(this.#stable));
    const added = Object.keys(lexer.tokens.links).length > Object.keys(this.#links).length;
    this.#links = { ...(lexer.tokens.links as Links) };
    // A definition may give meaning to links far above it.
    if (added && this.#stable > 0) {
      this.#stable = 0;
      this.#blocks = [];
      return this.#lex();
    }
    return tokens;
  }

  #parse(): readonly Block[] {
    const tokens = this.#lex();
    const open = firstOpen(tokens);
    const settled = this.#settle(tokens.slice(0, Math.max(open, 0)));
    const tail: Block[] = [];
    let offset = this.#stable;
    tokens.slice(settled).forEach((token, index) => {
      const made = blockOf(token, offset, isOpenEnd(tokens, settled + index));
      if (made) tail.push(this.#kept(made));
      offset += token.raw.length;
    });
    this.#tail = tail;
    this.#openKind = tokens.at(-1)?.type ?? "";
    return tail.length ? [...this.#blocks, ...tail] : this.#blocks;
  }

  // The same object for the same content, so that nobody draws it again.
  #kept(made: Block): Block {
    const old = this.#tail.find((block) => block.key === made.key);
    if (old?.kind === "html" && made.kind === "html" && old.html === made.html) return old;
    const same = old?.kind === "code" && made.kind === "code" && old.code === made.code && old.closed === made.closed;
    return same && old.lang === made.lang ? old : made;
  }

  // Everything before the open block is final, as long as what was read says the same as the text:
  // offsets into the text hang on that. Gives how many tokens are.
  #settle(tokens: readonly Token[]): number {
    let settled = 0;
    for (const token of tokens) {
      if (!this.#text.startsWith(token.raw, this.#stable)) break;
      const made = blockOf(token, this.#stable, false);
      if (made) this.#blocks.push(this.#kept(made));
      this.#stable += token.raw.length;
      settled += 1;
    }
    return settled;
  }
}

// A whole text at once: for what does not stream.
export function markdownBlocks(text: string): readonly Block[] {
  return new StreamingMarkdown().update(text);
}
