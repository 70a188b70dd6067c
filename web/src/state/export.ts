// Downloads a session's export. The content comes from the daemon unchanged.
import { app } from "./app.svelte";

/** A title as a name that is valid on every file system. */
export function fileName(title: string, id: string, ending: string): string {
  const words = title.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 48);
  return `perdure-${words || id.slice(-8)}.${ending}`;
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export async function saveExport(id: string, title: string): Promise<void> {
  save(await app.api.exportFile(id), fileName(title, id, "jsonl"));
}

export async function saveMarkdown(id: string, title: string): Promise<void> {
  save(new Blob([await app.api.markdown(id)], { type: "text/markdown" }), fileName(title, id, "md"));
}
