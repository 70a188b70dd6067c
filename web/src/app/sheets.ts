// Style sheets, from a daemon that may be down just then. Vite's loader asks for the sheet of a part once in the page's
// life: after a failure the next import of the part comes without it. So no failure reaches the loader. The link itself
// is put into the document again until its sheet is there, and whoever waits for it, waits that long.
import { firstWait, longer } from "../core/patient";

const waits = new WeakMap<HTMLLinkElement, number>();

// A link that is inserted fetches anew; its place and its listeners stay.
function again(link: HTMLLinkElement): void {
  const wait = waits.get(link) ?? firstWait;
  waits.set(link, longer(wait));
  setTimeout(() => link.parentNode?.insertBefore(link, link.nextSibling), wait);
}

// Browsers differ in what the sheet of a link is that failed: none, an empty one, or one that may not be read.
function isBare({ sheet }: HTMLLinkElement): boolean {
  try {
    return !sheet?.cssRules.length;
  } catch {
    return true;
  }
}

/** Before the first part is loaded. The page's own sheet has been asked for by then, and may have failed. */
export function keepSheets(): void {
  document.addEventListener("error", (event) => {
    const link = event.target;
    if (!(link instanceof HTMLLinkElement) || link.rel !== "stylesheet") return;
    event.stopPropagation();
    again(link);
  }, true);
  for (const link of document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")) if (isBare(link)) again(link);
}
