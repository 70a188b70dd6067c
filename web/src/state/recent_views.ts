// Keeps the most recently viewed sessions in memory: going back shows the page at once as it was
// left, and newer records arrive by the cursor, as after a reconnect.
import { SessionView } from "./session.svelte";

const keptViews = 4;

export class RecentViews {
  private readonly views = new Map<string, SessionView>();

  /** The view that was left, if it can continue; otherwise a new one. */
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

  /** The next person to sign in may be a different one. */
  clear(): void {
    this.views.clear();
  }
}
