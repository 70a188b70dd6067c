// Waiting for a condition with a deadline; the only way in which a test waits.
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

// The page has drawn what it has: fonts are there, nothing is loading, and nothing has changed for a moment.
export async function settled(page, ms = 4000) {
  await page.locator("h1, h2").first().waitFor({ state: "attached" });
  await until(async () => await page.locator("[aria-busy=true], .skeleton").count() === 0, "nothing is loading", ms);
  await page.evaluate(async (most) => {
    await document.fonts.ready;
    const end = performance.now() + most;
    let last = performance.now();
    const observer = new MutationObserver(() => { last = performance.now(); });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    while (performance.now() - last < 80 && performance.now() < end) await new Promise((done) => setTimeout(done, 16));
    observer.disconnect();
  }, ms);
}
