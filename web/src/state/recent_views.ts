// The sessions that were looked at last stay in memory: whoever goes back finds the page as it was left, at once, and
// what happened meanwhile comes by the cursor, as after a reconnect.
import { SessionView } from "./session.svelte";

const keptViews = 4;

export class RecentViews {
  private readonly views = new Map<string, SessionView>();

  /** The one that was left, where it can be gone on with; else a new one. */
  of(id: string): SessionView {
    const left = this.views.get(id);
    const view = left?.phase === "ready" ? left : new SessionView(id);
    this.views.delete(id);
    this.views.set(id, view);
    for (const oldest of this.views.keys()) {
      if (this.views.size <= keptViews) break;
      this.views.delete(oldest);
    }
    return view;
  }

  /** Whoever comes next may be somebody else. */
  clear(): void {
    this.views.clear();
  }
}
