// Puts a text into the clipboard. Plain http on a LAN has no clipboard API; execCommand still works
// there.
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // rejected: try execCommand
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "offscreen";
  area.setAttribute("aria-hidden", "true");
  document.body.appendChild(area);
  const focused = document.activeElement;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
