// An inbox item in words and a shape: what happened, and which actions are available here.
import type { Brief, InboxItem } from "./types";

export interface ItemFace {
  glyph: "needs" | "stopped" | "failed" | "ready";
  /** For the side bar. */
  short: string;
  /** For the inbox. */
  title: string;
}

export function itemFace(item: InboxItem, brief: Brief | undefined): ItemFace {
  switch (item.kind) {
    case "permission": return { glyph: "needs", short: item.text || "Asks for permission", title: item.text || "Asks for permission" };
    case "input": return { glyph: "needs", short: item.text || "Asks a question", title: item.text || "Asks a question" };
    case "expired": return { glyph: "stopped", short: "A question expired", title: "A question expired" };
    case "interrupted":
      // The turn stays interrupted after its agent is back.
      if (brief && !brief.needs_resume) return { glyph: "ready", short: "A turn was cut off", title: "A turn was cut off" };
      return { glyph: "stopped", short: "Agent stopped: resume?", title: "The agent is not running" };
    case "failed": return { glyph: "failed", short: "The turn failed", title: "The turn failed" };
    case "held": return { glyph: "ready", short: "Messages waiting", title: "Messages waiting" };
  }
}
