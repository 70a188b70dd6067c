// What can wait until something is on the screen: a second frame begins only when the first one is drawn.

/** Calls once what was just changed is drawn; in a page that nobody sees, soon. */
export function afterPaint(call: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(() => requestAnimationFrame(call));
  else setTimeout(call);
}
