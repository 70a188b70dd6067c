// Markdown of an agent, while it streams. The text is cut into blocks; only the last, open block is
// parsed again when text is added. For a long paragraph only the added text is parsed
// (long_paragraph.ts); the whole paragraph is parsed again when a line ends, at most every 150 ms,
// and less often if parsing is slow. The last parse always covers the whole text, so the result
// does not depend on how the text was split.
import { Lexer, type Token } from "marked";
import { LongParagraph, type Links } from "./long_paragraph";
import { blockOf, isClosedFence, type Block } from "./markdown_html";

export { safeHref, type Block, type CodeBlock, type HtmlBlock, type LongBlock } from "./markdown_html";

// Where the open part begins: at the last block. While the first line of the last block is
// incomplete, also the block before it, since `*` may become `**bold**` and belong to the paragraph
// above.
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

// True if only blank lines follow: the block may still grow.
function isOpenEnd(tokens: readonly Token[], index: number): boolean {
  return tokens.slice(index + 1).every((token) => token.type === "space");
}

const longFrom = 1500; // an open paragraph of this many characters is long
const lineDecides = 200; // after this many characters, a line's kind of block is decided
const readAgain = 150; // ms between two parses of a long block
const share = 20; // parsing takes at most 1/share of the time

// One message's markdown. `update` takes the whole text so far; its cost is proportional to the
// added text.
export class StreamingMarkdown {
  #text = "";
  #stable = 0; // blocks up to this offset are final
  #blocks: Block[] = []; // final blocks
  #tail: Block[] = []; // open blocks, as last returned
  #links: Links = {};
  #long: LongParagraph | null = null;
  #readAt = 0; // time of the last full parse of the open part
  #cost = 0; // duration of that parse
  #openKind = ""; // kind of the last token
  #lineStart = 0; // start of the last line parsed

  constructor(private readonly now: () => number = () => performance.now()) {}

  // `live`: more text will come.
  update(given: string, live = false): readonly Block[] {
    const text = given.includes("\r") ? given.replace(/\r\n?/g, "\n") : given;
    const grown = text.length >= this.#text.length && text.startsWith(this.#text.slice(-64), Math.max(0, this.#text.length - 64));
    if (!grown) this.#reset();
    const added = text.slice(this.#text.length);
    this.#text = text;
    if (live && this.#long && this.#mayAppend(this.#long, added)) return this.#appended(this.#long, added);
    return this.#whole(live);
  }

  // Text on the same line belongs to the same paragraph. A new line may end it: the kinds of blocks
  // (not their content) are parsed again at intervals, and at once after an empty line.
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
    // A definition can complete links far above it.
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

  // Returns the same object for the same content, so that it is not redrawn.
  #kept(made: Block): Block {
    const old = this.#tail.find((block) => block.key === made.key);
    if (old?.kind === "html" && made.kind === "html" && old.html === made.html) return old;
    const same = old?.kind === "code" && made.kind === "code" && old.code === made.code && old.closed === made.closed;
    return same && old.lang === made.lang ? old : made;
  }

  // Blocks before the open one become final as long as the tokens reproduce the text exactly,
  // because offsets into the text depend on that. Returns the number of final tokens.
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

// Blocks of a complete text, which does not stream.
export function markdownBlocks(text: string): readonly Block[] {
  return new StreamingMarkdown().update(text);
}
