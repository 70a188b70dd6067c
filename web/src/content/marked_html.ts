// Text as HTML, with suspicious characters marked.
import { isPlain, segments, shownAs, type Care } from "../core/suspicious";
import { escapeHtml } from "./policy";

export function textToHtml(text: string, care: Care = "prose"): string {
  if (isPlain(text, care)) return escapeHtml(text);
  return segments(text, care)
    .map((one) => (one.mark ? `<span class="odd" title="${escapeHtml(one.mark.name)}">${escapeHtml(shownAs(one))}</span>` : escapeHtml(one.text)))
    .join("");
}
