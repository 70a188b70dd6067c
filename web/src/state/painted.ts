// Defers work until something is on the screen: a second frame begins only after the first one is
// drawn.

/** Calls after the current change is drawn; in a hidden page, soon. */
export function afterPaint(call: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(() => requestAnimationFrame(call));
  else setTimeout(call);
}
