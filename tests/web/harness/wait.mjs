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
