// Parts of the page that are loaded later, from a daemon that may be down. A failed load is retried
// for as long as the part is wanted; a loaded part stays. For style sheets see app/sheets.ts.

const longestWait = 4_000;

export const firstWait = 250;
export const longer = (wait: number): number => Math.min(wait * 2, longestWait);

export async function patiently<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let wait = firstWait; ; wait = longer(wait)) {
    try {
      return await load();
    } catch {
      await new Promise((later) => setTimeout(later, wait));
    }
  }
}
