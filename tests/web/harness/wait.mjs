// Waits for a condition with a deadline; tests must not wait in any other way.
export async function until(condition, what, ms = 10_000) {
  const deadline = Date.now() + ms;
  let last = null;
  for (;;) {
    try {
      if (await condition()) return;
      last = null;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}${last ? `: ${last.message}` : ""}`);
    await new Promise((done) => setTimeout(done, 25));
  }
}

// The element has not moved for longer than a moved button stays disabled (ui/still.svelte.ts).
export async function stoodStill(locator) {
  let place = "";
  let since = 0;
  await until(async () => {
    const [here, now] = await locator.evaluate((element) => [JSON.stringify(element.getBoundingClientRect()), performance.now()]);
    if (here !== place) since = now;
    place = here;
    return now - since > 700;
  }, "it stands still");
}

const underWay = new WeakMap();

// Tracks the page's unanswered requests from now on. Sockets stay open and are not counted.
export function watchRequests(page) {
  const asked = new Set();
  underWay.set(page, asked);
  page.on("request", (request) => asked.add(request));
  for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => asked.delete(request));
}

// Counts checks, not time: on a busy machine a page that gets no CPU does not change either.
async function untilQuiet(most) {
  await document.fonts.ready;
  const end = performance.now() + most;
  let quiet = 0;
  const observer = new MutationObserver(() => { quiet = 0; });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  while (quiet < 5 && performance.now() < end) {
    quiet += 1;
    await new Promise((done) => setTimeout(done, 16));
  }
  observer.disconnect();
}

// The page is fully drawn: fonts are loaded, nothing is loading, and nothing has changed for a
// moment.
export async function settled(page, ms = 4000) {
  await page.locator("h1, h2").first().waitFor({ state: "attached" });
  await until(async () => await page.locator("[aria-busy=true], .skeleton").count() === 0, "nothing is loading", ms);
  const deadline = Date.now() + ms;
  const asked = underWay.get(page) ?? new Set();
  do await page.evaluate(untilQuiet, ms); while (asked.size > 0 && Date.now() < deadline);
}
