// Formats numbers and short texts for people.

const grouped = new Intl.NumberFormat("en"); // once: creating it is expensive

/** `18,474` */
export function count(n: number): string {
  return grouped.format(n);
}

/** `812`, `9k`, `1.2M`: a rough size. */
export function rough(n: number): string {
  if (n < 1000) return String(n);
  if (n < 10_000) return `${(n / 1000).toFixed(1).replace(/\.0$/, "")}k`;
  if (n < 1_000_000) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

/** `1 file`, `3 files` */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** `4.2 MB` */
export function bytes(n: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let size = n;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const text = unit === 0 || size >= 100 ? String(Math.round(size)) : size.toFixed(1).replace(/\.0$/, "");
  return `${text} ${units[unit] ?? ""}`;
}

/** The first line that is not blank. */
export function firstLine(text: string): string {
  return text.split("\n").find((line) => line.trim() !== "")?.trim() ?? "";
}

/** Cuts to at most `max` characters, never within one. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const points = Array.from(text);
  return points.length <= max ? text : `${points.slice(0, max - 1).join("")}…`;
}

/** Replaces a home folder with `~`: `~/projects/billing`. */
export function shortPath(path: string): string {
  return path.replace(/^\/(?:home\/[^/]+|root|Users\/[^/]+)(?=\/|$)/, "~");
}

/** The last name of a path. */
export function baseName(path: string): string {
  return path.replace(/\/+$/, "").split("/").pop() ?? path;
}
