// The page's memory while a session keeps running: the same after many turns as after a few.
// bench/web/budgets.mjs memory --minutes N is the long form.
import assert from "node:assert/strict";

import { log, toTop, untilSaid } from "./harness/transcript.mjs";
import { until } from "./harness/wait.mjs";

async function held(one) {
  const cdp = await one.context.newCDPSession(one.page);
  await cdp.send("Performance.enable");
  await cdp.send("HeapProfiler.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const metrics = Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map((found) => [found.name, found.value]));
  await cdp.detach();
  return { heap: metrics.JSHeapUsedSize / (1 << 20), nodes: metrics.Nodes, listeners: metrics.JSEventListeners };
}

export default function (suite) {
  suite.configure({ agents: { fast: { switches: ["pace_ms=0"] } } });

  suite.test("memory_is_flat_while_a_session_goes_on_and_what_was_let_go_comes_back", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "fast", title: "On and on", prompt: "say 2 ; the very first" });
    await daemon.untilIdle(session.id);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:end=");
    const work = async (from, to) => {
      for (let turn = from; turn <= to; turn += 1) {
        await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 1; tool 1; ".repeat(60) });
        await daemon.untilIdle(session.id);
        await untilSaid(one.page, `<p${turn}:end=`);
      }
      return held(one);
    };
    const some = await work(2, 6);
    const many = await work(7, 18);
    console.log(`  ${JSON.stringify(some)} -> ${JSON.stringify(many)}`);
    assert.ok(many.heap < some.heap + 1.5, `the heap grew from ${some.heap} to ${many.heap} MB`);
    assert.ok(many.nodes < some.nodes * 1.5 + 500, `${some.nodes} to ${many.nodes} nodes`);
    assert.ok(many.listeners < some.listeners + 40, `${some.listeners} to ${many.listeners} listeners`);
    // It started with the whole session, and has since dropped rows.
    assert.equal(await log(one.page).locator("[data-key]").last().getAttribute("aria-setsize"), "-1");
    // Scrolls up through pages of older rows until the first one is back.
    await until(async () => {
      await toTop(one.page);
      return await log(one.page).getByText("the very first").count() > 0;
    }, "the first prompt is there again", 60_000);
  });
}
