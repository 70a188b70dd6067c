// Parts that are loaded when they are first needed and are there at once from then on: a row that comes
// back into view must not be empty for a moment.
import type { Component } from "svelte";
import { patiently } from "../core/patient";

class Later<Part extends Component<any, any, any>> {
  component: Part | null = $state.raw(null);
  #asked = false;
  constructor(readonly load: () => Promise<{ default: Part }>) {}

  /** Asks for it; gives it once it is there. */
  get(): Part | null {
    if (!this.#asked) {
      this.#asked = true;
      void patiently(this.load).then((loaded) => (this.component = loaded.default));
    }
    return this.component;
  }
}

export const timeline = new Later(() => import("./Timeline.svelte"));
export const sessionBottom = new Later(() => import("./Bottom.svelte"));
export const toolBody = new Later(() => import("./rows/ToolBody.svelte"));
export const sessionDialogs = new Later(() => import("./dialogs/SessionDialogs.svelte"));
export const historyPreview = new Later(() => import("./HistoryPreview.svelte"));
