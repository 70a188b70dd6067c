// Renders Markdown tokens as HTML, token by token, and escapes every text. Token types that this
// file does not handle cannot reach the document, raw HTML included.
import type { Token, Tokens } from "marked";
import { escapeHtml, type SafeHtml } from "./policy";
import { textToHtml } from "./marked_html";

export interface HtmlBlock {
  readonly kind: "html";
  readonly key: number; // offset in the text: stable while the text grows
  readonly html: SafeHtml;
}
export interface CodeBlock {
  readonly kind: "code";
  readonly key: number;
  readonly code: string;
  readonly lang: string;
  readonly closed: boolean; // complete: it will not grow
}
// A long paragraph that still grows: final pieces, and the end that is redrawn.
export interface LongBlock {
  readonly kind: "long";
  readonly key: number;
  readonly pieces: readonly SafeHtml[];
  readonly end: SafeHtml;
}
export type Block = HtmlBlock | CodeBlock | LongBlock;

// Links go to the web or to a mailbox only; a relative link has no meaning here. Results are
// cached: a streaming block is parsed repeatedly with the same links.
const known = new Map<string, string | null>();
const knownMax = 200;

export function safeHref(href: string): string | null {
  const old = known.get(href);
  if (old !== undefined) return old;
  const made = checkedHref(href);
  if (known.size >= knownMax) known.clear();
  if (href.length < 500) known.set(href, made);
  return made;
}

function checkedHref(href: string): string | null {
  const trimmed = href.trim();
  if (/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/.test(trimmed)) return null;
  let url: URL;
  try {
    url = new URL(trimmed);
  } catch {
    return null;
  }
  if (url.protocol === "mailto:") return url.href;
  return (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== "" ? url.href : null;
}

// The link's host, shown if the link text does not contain it.
function targetOf(href: string, words: string): string {
  const url = new URL(href);
  if (url.protocol === "mailto:") return words.includes(url.pathname) ? "" : url.pathname;
  return words.toLowerCase().startsWith(url.href.toLowerCase().slice(0, words.length)) || words.includes(url.host) ? "" : url.host;
}

function link(token: Tokens.Link): string {
  const inner = inlines(token.tokens);
  const href = safeHref(token.href);
  // `<p1:2>` is text that someone wrote, not an address.
  if (!href && token.raw.startsWith("<")) return textToHtml(token.raw);
  if (!href) return `<span class="dead" title="${escapeHtml(`Not opened: ${token.href.slice(0, 200)}`)}">${inner}</span>`;
  const host = targetOf(href, token.text);
  const target = host ? `<span class="host">${textToHtml(host, "command")}</span>` : "";
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer" title="${escapeHtml(href)}">${inner}</a>${target}`;
}

// Images are never fetched: a request would reveal the reader to the image's host.
function image(token: Tokens.Image): string {
  const words = textToHtml(token.text || "image");
  const href = safeHref(token.href);
  if (!href) return `<span class="image">${words}</span>`;
  return `<a class="image" href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer" title="${escapeHtml(href)}">${words}</a>`;
}

export function inlines(tokens: readonly Token[] | undefined): string {
  let html = "";
  for (const token of tokens ?? []) html += inline(token);
  return html;
}

function inline(token: Token): string {
  switch (token.type) {
    case "strong": return `<strong>${inlines(token.tokens)}</strong>`;
    case "em": return `<em>${inlines(token.tokens)}</em>`;
    case "del": return `<del>${inlines(token.tokens)}</del>`;
    case "codespan": return `<code>${textToHtml((token as Tokens.Codespan).text, "command")}</code>`;
    case "br": return "<br>";
    case "link": return link(token as Tokens.Link);
    case "image": return image(token as Tokens.Image);
    case "checkbox": return checkbox(Boolean((token as Tokens.Checkbox).checked));
    case "escape": return textToHtml((token as Tokens.Escape).text);
    case "text": {
      const text = token as Tokens.Text;
      return text.tokens ? inlines(text.tokens) : textToHtml(text.text);
    }
    default: return textToHtml(token.raw);
  }
}

function checkbox(checked: boolean): string {
  return `<span class="box" role="img" aria-label="${checked ? "done" : "to do"}">${checked ? "☑" : "☐"}</span> `;
}

function cell(part: Tokens.TableCell, tag: "th" | "td"): string {
  const side = part.align === "right" || part.align === "center" ? ` class="${part.align}"` : "";
  return `<${tag}${side}>${inlines(part.tokens)}</${tag}>`;
}

function table(token: Tokens.Table): string {
  const head = token.header.map((part) => cell(part, "th")).join("");
  const rows = token.rows.map((row) => `<tr>${row.map((part) => cell(part, "td")).join("")}</tr>`).join("");
  return `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function list(token: Tokens.List): string {
  const start = token.ordered && typeof token.start === "number" && token.start !== 1 ? ` start="${token.start}"` : "";
  const tag = token.ordered ? "ol" : "ul";
  const items = token.items.map((item) => listItem(item)).join("");
  return `<${tag}${start}>${items}</${tag}>`;
}

function listItem(item: Tokens.ListItem): string {
  const boxed = item.tokens.some((token) => token.type === "checkbox" || ("tokens" in token && token.tokens?.some((inner: Token) => inner.type === "checkbox")));
  const box = item.task && !boxed ? checkbox(item.checked === true) : "";
  const inner = item.tokens.map((token) => (token.type === "text" ? inline(token) : block(token))).join("");
  return `<li${item.task ? ' class="task"' : ""}>${box}${inner}</li>`;
}

function block(token: Token): string {
  switch (token.type) {
    case "paragraph": return `<p>${inlines(token.tokens)}</p>`;
    case "heading": return heading(token as Tokens.Heading);
    case "code": return `<pre tabindex="0"><code>${textToHtml((token as Tokens.Code).text, "command")}</code></pre>`;
    case "blockquote": return `<blockquote>${(token.tokens ?? []).map(block).join("")}</blockquote>`;
    case "list": return list(token as Tokens.List);
    case "table": return table(token as Tokens.Table);
    case "hr": return "<hr>";
    case "space": case "def": return "";
    case "checkbox": return inline(token);
    case "text": return `<p>${inline(token)}</p>`;
    default: return `<p>${textToHtml(token.raw.trim())}</p>`;
  }
}

// The page has its own outline: all headings of an agent are one level below its title, in any
// order. Only their style differs.
function heading(token: Tokens.Heading): string {
  return `<h2 class="h${token.depth}">${inlines(token.tokens)}</h2>`;
}

export function isClosedFence(raw: string): boolean {
  const open = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  if (!open) return false;
  const last = raw.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return raw.trimEnd().includes("\n") && last.startsWith(open) && /^(`+|~+)$/.test(last);
}

export function blockOf(token: Token, key: number, isLast: boolean): Block | null {
  if (token.type === "space" || token.type === "def") return null;
  if (token.type === "code") {
    const code = token as Tokens.Code;
    const lang = (code.lang ?? "").trim().split(/[\s,{]/)[0]?.toLowerCase() ?? "";
    return { kind: "code", key, code: code.text, lang, closed: !isLast || isClosedFence(code.raw) };
  }
  return { kind: "html", key, html: block(token) as SafeHtml };
}
