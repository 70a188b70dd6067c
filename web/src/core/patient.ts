// Parts of the page that are loaded later, from a daemon that may be down just then. A part that cannot be had is
// asked for again, for as long as it is wanted; what was loaded once stays. Its sheets: app/sheets.ts.

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
