// The page's only Trusted Types policy. HTML enters the document only as SafeHtml, made only by the
// renderer of markdown.ts, which passes every text through escapeHtml. No other code may call
// `trusted`.
declare const safe: unique symbol;
export type SafeHtml = string & { readonly [safe]: true };

interface Policy {
  createHTML(html: string): unknown;
  createScriptURL(url: string): unknown;
}
interface PolicyFactory {
  createPolicy(name: string, rules: { createHTML(s: string): string; createScriptURL(s: string): string }): Policy;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => entities[c] ?? c);
}

// Only a script of this page's own build may become a worker.
function ownScript(url: string): string {
  const parsed = new URL(url, location.href);
  if (parsed.origin !== location.origin) throw new TypeError("not a script of this page");
  return parsed.href;
}

let made: Policy | undefined;
function policy(): Policy {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
  const rules = { createHTML: (html: string) => html, createScriptURL: ownScript };
  made ??= factory ? factory.createPolicy("perdure", rules) : rules;
  return made;
}

export function setContent(element: Element, html: SafeHtml): void {
  element.innerHTML = policy().createHTML(html) as string;
}

// Inserts the HTML before the element; existing nodes stay.
export function appendContent(before: Element, html: SafeHtml | undefined): void {
  if (html) before.insertAdjacentHTML("beforebegin", policy().createHTML(html) as string);
}

// Svelte attachment: sets the element's content to this HTML, again whenever it changes.
export function trustedContent(html: SafeHtml): (element: Element) => void {
  return (element) => setContent(element, html);
}

export function workerUrl(url: string): string {
  return policy().createScriptURL(url) as string;
}
