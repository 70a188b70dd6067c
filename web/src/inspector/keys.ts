// Keys of the inspector. Letters and numbers count only where nobody types, and not at all if the person turned them off.
import { app } from "../state/app.svelte";
import { panelIds, type Workbench } from "./workbench.svelte";

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, textarea, select, .xterm, dialog[open]") !== null;
}

export function inspectorKey(event: KeyboardEvent, bench: Workbench): void {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.ctrlKey && event.key === "`") {
    event.preventDefault();
    show(bench, "shell");
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !app.settings.letters || isTyping(event.target)) return;
  const done = letter(event.key, bench);
  if (done) event.preventDefault();
}

function show(bench: Workbench, tab: Workbench["tab"]): void {
  bench.tab = tab;
  app.settings.set("inspectorOpen", true);
}

function letter(key: string, bench: Workbench): boolean {
  const panel = /^[1-5]$/.test(key) ? panelIds[Number(key) - 1] : key === "d" ? "changes" : undefined;
  if (panel) {
    show(bench, panel);
    return true;
  }
  if (bench.tab !== "changes") return false;
  if (key === "n") bench.changes.step(1);
  else if (key === "p") bench.changes.step(-1);
  else if (key === "v") bench.changes.layout = bench.changes.layout === "unified" ? "split" : "unified";
  else return false;
  return true;
}
