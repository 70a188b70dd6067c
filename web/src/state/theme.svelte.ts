// Light, dark, or the system's choice: `data-theme` on <html>, set before anything is drawn.
import { app } from "./app.svelte";

const wish = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  const theme = app.settings.theme;
  return theme === "system" ? wish.matches : theme === "dark";
}

function apply(): void {
  document.documentElement.dataset["theme"] = isDark() ? "dark" : "light";
}

/** Applies now, and whenever the setting or the system changes. */
export function showTheme(): void {
  apply();
  wish.addEventListener("change", apply);
  $effect.root(() => {
    $effect(apply);
  });
}
