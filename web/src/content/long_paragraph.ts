// A long paragraph while it grows: pieces that are drawn once, and an end that is parsed again with
// each addition. A piece ends at a space in plain text, when no open mark before it (`**`, a
// backtick, a bracket) could be closed by later text. An end longer than `endMax` is cut anyway;
// the full parse of the completed paragraph corrects that.
import { Lexer, type Token } from "marked";
import { inlines, type LongBlock } from "./markdown_html";
import type { SafeHtml } from "./policy";

export type Links = Record<string, { href: string | null; title: string | null }>;

const endUsual = 400;
const endMax = 3000;
const mayOpen = /[*_`~[<!]/;

// Parses inline markdown only, with the link definitions of the text.
function inlineTokens(text: string, links: Links): Token[] {
  const lexer = new Lexer({ gfm: true, breaks: false });
  Object.assign(lexer.tokens.links, links);
  return lexer.inlineTokens(text);
}

// The length of the prefix whose meaning later text cannot change; 0: none.
export function settledLength(tokens: readonly Token[], force: boolean): number {
  let offset = 0;
  let settled = 0;
  for (const token of tokens) {
    const isText = token.type === "text";
    const opens = isText ? token.raw.search(mayOpen) : -1;
    const plain = opens < 0 || force ? token.raw : token.raw.slice(0, opens);
    const blank = isText ? Math.max(plain.lastIndexOf(" "), plain.lastIndexOf("\n")) : -1;
    if (blank >= 0) settled = offset + blank + 1;
    if (opens >= 0 && !force) break;
    offset += token.raw.length;
  }
  return settled;
}

export class LongParagraph {
  #pieces: SafeHtml[] = [];
  #end = "";
  #endHtml = "" as SafeHtml;

  constructor(
    readonly key: number,
    text: string,
    private readonly links: Links,
  ) {
    this.add(text);
  }

  add(text: string): void {
    this.#end += text;
    let tokens = inlineTokens(this.#end, this.links);
    if (this.#end.length > endUsual) {
      const settled = settledLength(tokens, this.#end.length > endMax);
      if (settled > 0) {
        this.#pieces.push(inlines(inlineTokens(this.#end.slice(0, settled), this.links)) as SafeHtml);
        this.#end = this.#end.slice(settled);
        tokens = inlineTokens(this.#end, this.links);
      }
    }
    this.#endHtml = inlines(tokens) as SafeHtml;
  }

  get block(): LongBlock {
    return { kind: "long", key: this.key, pieces: this.#pieces, end: this.#endHtml };
  }
}
