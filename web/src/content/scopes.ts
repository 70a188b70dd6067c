// Flattens the highlighter's scope tree into lines of runs, in the five colours of the tokens.
import type { ColourRun } from "./runs";

export interface ScopeNode {
  readonly scope?: string;
  readonly children: readonly (ScopeNode | string)[];
}

const colours: readonly [RegExp, string][] = [
  [/^(comment|quote|meta)/, "sy-c"],
  [/^(string|regexp|char|addition|link|code)/, "sy-s"],
  [/^(number|literal|symbol|bullet)/, "sy-n"],
  [/^(keyword|operator|tag|name|selector|template-tag|doctag|section|strong|built_in|type)/, "sy-k"],
  [/^(title|function|attr|attribute|property|variable|class)/, "sy-f"],
];

export function colourOf(scope: string | undefined): string {
  return scope ? (colours.find(([pattern]) => pattern.test(scope))?.[1] ?? "") : "";
}

export function runsOf(root: ScopeNode): ColourRun[][] {
  const lines: ColourRun[][] = [[]];
  const put = (text: string, cls: string): void => {
    text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      const line = lines.at(-1);
      if (!part || !line) return;
      const last = line.at(-1);
      if (last && last.cls === cls) line[line.length - 1] = { text: last.text + part, cls };
      else line.push({ text: part, cls });
    });
  };
  const walk = (node: ScopeNode | string, cls: string): void => {
    if (typeof node === "string") put(node, cls);
    else for (const child of node.children) walk(child, colourOf(node.scope) || cls);
  };
  walk(root, "");
  return lines;
}
