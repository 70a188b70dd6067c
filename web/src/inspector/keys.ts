// Binds the inspector's keys while it is mounted. The person can remap them: core/keymap.ts.
import { app } from "../state/app.svelte";
import { keys } from "../state/keys.svelte";
import { panelIds, type PanelId, type Workbench } from "./workbench.svelte";

/** The returned function unbinds them. */
export function bindKeys(bench: Workbench, shown: () => void): () => void {
  const show = (tab: PanelId) => () => {
    bench.tab = tab;
    shown();
  };
  const inChanges = (run: () => void) => () => {
    if (bench.tab !== "changes") return false;
    run();
    return true;
  };
  const flip = (): void => {
    bench.changes.layout = bench.changes.layout === "unified" ? "split" : "unified";
    app.settings.set("diffStyle", bench.changes.layout);
  };
  const ends = [
    ...panelIds.map((tab, at) => keys.on(`tab.${at + 1}` as "tab.1", show(tab))),
    keys.on("shell", show("shell")),
    keys.on("changes", show("changes")),
    keys.on("next.file", inChanges(() => bench.changes.step(1))),
    keys.on("previous.file", inChanges(() => bench.changes.step(-1))),
    keys.on("diff.style", inChanges(flip)),
  ];
  return () => ends.forEach((end) => end());
}
