// Prefetches the parts of the page while it is idle, so that pages not yet opened still work if the
// daemon goes away. Leaves out the terminal: it is large, and useless while the daemon is away.
import { patiently } from "../core/patient";

const parts: (() => Promise<unknown>)[] = [
  () => import("../session/SessionPage.svelte"),
  () => import("../session/Bottom.svelte"),
  () => import("../session/Timeline.svelte"),
  () => import("../session/rows/ToolBody.svelte"),
  () => import("../content/AskedFiles.svelte"),
  () => import("../inspector/workbench.svelte"),
  () => import("../inspector/Inspector.svelte"),
  () => import("../inspector/InspectorPanel.svelte"),
  () => import("../session/dialogs/SessionDialogs.svelte"),
  () => import("../session/rules/AlwaysDialog.svelte"),
  () => import("../pages/Inbox.svelte"),
  () => import("../pages/Tasks.svelte"),
  () => import("../pages/Task.svelte"),
  () => import("../pages/Search.svelte"),
  () => import("../pages/NewSession.svelte"),
  () => import("../pages/Settings.svelte"),
  () => import("./Palette.svelte"),
  () => import("./KeyList.svelte"),
];

const settle = 1_000;

/** Returns a function that stops prefetching. */
export function warmUp(): () => void {
  let isWanted = true;
  const idle = (call: () => void): void => {
    if ("requestIdleCallback" in window) requestIdleCallback(call, { timeout: 2_000 });
    else setTimeout(call, 50);
  };
  const next = (at: number): void => {
    const part = parts[at];
    if (!isWanted || !part) return;
    idle(() => void patiently(part).then(() => next(at + 1)));
  };
  const timer = setTimeout(() => next(0), settle);
  return () => {
    isWanted = false;
    clearTimeout(timer);
  };
}
