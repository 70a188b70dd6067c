// Lines of coloured runs, the form in which code and terminal output reach the document: text
// nodes, never HTML. Deceptive characters are shown by their code.
import { isPlain, segments, shownAs } from "../core/suspicious";

export interface ColourRun {
  readonly text: string;
  readonly cls: string;
}
export type RunLine = readonly ColourRun[];

function appendText(parent: Node, text: string): void {
  if (isPlain(text, "title")) {
    parent.appendChild(document.createTextNode(text));
    return;
  }
  for (const segment of segments(text, "title")) {
    if (!segment.mark) {
      parent.appendChild(document.createTextNode(segment.text));
      continue;
    }
    const span = document.createElement("span");
    span.className = "odd";
    span.title = segment.mark.name;
    span.textContent = shownAs(segment);
    parent.appendChild(span);
  }
}

export function appendRuns(parent: Node, runs: RunLine): void {
  for (const run of runs) {
    if (run.cls === "") {
      appendText(parent, run.text);
      continue;
    }
    const span = document.createElement("span");
    span.className = run.cls;
    appendText(span, run.text);
    parent.appendChild(span);
  }
}

// Svelte attachment: fills the element with these lines, separated by line breaks.
export function lineContent(lines: readonly RunLine[]): (element: Element) => void {
  return (element) => {
    const fragment = document.createDocumentFragment();
    lines.forEach((line, index) => {
      if (index > 0) fragment.appendChild(document.createTextNode("\n"));
      appendRuns(fragment, line);
    });
    element.replaceChildren(fragment);
  };
}

// Applies marks (offset ranges within the line) over its runs, such as a diff's word marks over
// syntax colours.
export function overlay(line: RunLine, ranges: readonly (readonly [number, number])[], cls: string): ColourRun[] {
  if (ranges.length === 0) return [...line];
  const out: ColourRun[] = [];
  let start = 0;
  for (const run of line) {
    const end = start + run.text.length;
    let at = start;
    for (const [from, to] of ranges) {
      if (to <= at || from >= end) continue;
      if (from > at) out.push({ text: run.text.slice(at - start, from - start), cls: run.cls });
      const stop = Math.min(to, end);
      out.push({ text: run.text.slice(Math.max(from, at) - start, stop - start), cls: `${run.cls} ${cls}`.trim() });
      at = stop;
    }
    if (at < end) out.push({ text: run.text.slice(at - start), cls: run.cls });
    start = end;
  }
  return out;
}
