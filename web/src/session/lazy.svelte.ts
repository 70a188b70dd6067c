// Parts that are loaded on first use and then render synchronously: a row that scrolls back into
// view must not be empty for a moment.
import type { Component } from "svelte";
import { patiently } from "../core/patient";

class Later<Part extends Component<any, any, any>> {
  component: Part | null = $state.raw(null);
  #asked = false;
  constructor(readonly load: () => Promise<{ default: Part }>) {}

  /** Starts loading; returns the part once it is loaded. */
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
