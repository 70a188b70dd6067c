// Parts of the page that are loaded later, from a daemon that may be down just then. A part that cannot be had is
// asked for again, for as long as it is wanted; what was loaded once stays.

const firstWait = 250;
const longestWait = 4_000;

export async function patiently<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let wait = firstWait; ; wait = Math.min(wait * 2, longestWait)) {
    try {
      return await load();
    } catch {
      await new Promise((later) => setTimeout(later, wait));
    }
  }
}
