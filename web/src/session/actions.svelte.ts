// The actions of the banner and the menu. Each runs only once at a time; errors are shown, and a
// failed resume stays in the banner until the next attempt.
import { ApiError } from "../core/api";
import type { ResumeHow } from "../core/types";
import { app } from "../state/app.svelte";
import { place } from "../state/route.svelte";
import type { SessionView } from "../state/session.svelte";
import type { Act } from "./state";

export class SessionActions {
  resumeError = $state("");
  preview = $state(false);
  /** Opens the panel with the records; set by the page. */
  showEvents: () => void = () => {};

  constructor(readonly view: SessionView) {}

  readonly run = (act: Act): void => {
    switch (act) {
      case "resume": case "restart": return void this.resume("auto");
      case "fresh": return void this.resume(this.view.session?.history_enabled ? "inject" : "fresh");
      case "declare_dead": return void this.try(async () => void (await app.api.resume(this.view.id, { declare_dead: true })));
      case "cancel": return void this.try(() => this.view.stop());
      case "release": return void this.try(async () => void (await app.api.releaseQueue(this.view.id)));
      case "unarchive": return void this.try(async () => void (await app.api.unarchive(this.view.id)));
      case "retry": return void this.retry();
      case "preview": this.preview = true; return;
      case "details": return this.showEvents();
      case "new": return place.go({ page: "new", task: this.view.session?.task_id ?? "" });
      case "workspace": return void this.try(async () => void (await app.api.workspace(this.view.id).shells()));
    }
  };

  async resume(how: ResumeHow): Promise<void> {
    if (this.view.resuming) return;
    this.resumeError = "";
    try {
      const answer = await this.view.resume(how);
      if (answer.receipt.rung_name === "inject") app.announce("The agent started fresh, the history goes along with your next message");
      else app.announce("The agent is back");
    } catch (error) {
      this.resumeError = `Resume failed, history kept: ${error instanceof Error ? error.message : String(error)}.`;
    }
  }

  private async retry(): Promise<void> {
    const last = this.view.rows.findLast((row) => row.role === "user");
    if (last && last.role !== "mark" && last.content) await this.view.send(last.content);
  }

  async try(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      app.tell(error instanceof ApiError || error instanceof Error ? error.message : String(error), "failure");
    }
  }
}
