// Style sheets from a daemon that may be down. Vite's loader requests the sheet of a part only
// once; after a failure, the next import of the part gets no sheet. The loader must therefore never
// see a failure: this code inserts the link again until its sheet has loaded, and callers wait
// until then.
import { firstWait, longer } from "../core/patient";

const waits = new WeakMap<HTMLLinkElement, number>();

// An inserted link is fetched again; its position and its listeners stay.
function again(link: HTMLLinkElement): void {
  const wait = waits.get(link) ?? firstWait;
  waits.set(link, longer(wait));
  setTimeout(() => link.parentNode?.insertBefore(link, link.nextSibling), wait);
}

// After a failed load, browsers differ: link.sheet is null, empty, or not readable.
function isBare({ sheet }: HTMLLinkElement): boolean {
  try {
    return !sheet?.cssRules.length;
  } catch {
    return true;
  }
}

/**
 * Call before the first part is loaded. The page's own sheet was already requested and may have
 * failed.
 */
export function keepSheets(): void {
  document.addEventListener("error", (event) => {
    const link = event.target;
    if (!(link instanceof HTMLLinkElement) || link.rel !== "stylesheet") return;
    event.stopPropagation();
    again(link);
  }, true);
  for (const link of document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")) if (isBare(link)) again(link);
}
