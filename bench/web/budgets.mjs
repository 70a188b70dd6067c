// Measures the page against its budgets in a real browser and prints a table. This is not a test:
// times depend on the machine, so people judge them. tests/web/unit.mjs tests the sizes.
//
//   PERDURE_PROGRAMS=build/release tools/node.sh bench/web/budgets.mjs [--minutes N] [PART…]
//   parts: sizes open stream memory switch reattach scrub
import { Daemon } from "../../tests/web/harness/daemon.mjs";
import { launchBrowser, Person } from "../../tests/web/harness/browser.mjs";
import { log } from "../../tests/web/harness/transcript.mjs";
import { until } from "../../tests/web/harness/wait.mjs";
import { sizeBudgets } from "../../tests/web/sizes.mjs";

const words = process.argv.slice(2);
const minutes = words.includes("--minutes") ? Number(words[words.indexOf("--minutes") + 1]) : 2;
const wanted = words.filter((word) => /^[a-z]+$/.test(word));
const wants = (part) => wanted.length === 0 || wanted.includes(part);

function say(what, seen, budget = "") {
  console.log(`${what.padEnd(58)} ${String(seen).padStart(22)}   ${budget}`);
}
const ms = (value) => `${Math.round(value)} ms`;
const sorted = (list) => [...list].sort((a, b) => a - b);
const quantile = (list, part) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? NaN;
const median = (list) => quantile(list, 0.5);

function sizes() {
  for (const { name, measure } of sizeBudgets) {
    const { bytes, most } = measure();
    say(`size of ${name.replaceAll("_", " ")}`, `${(bytes / 1024).toFixed(1)} KB`, `${most / 1024} KB`);
  }
}

// A session of about this many records: turns of text, thoughts and tools, like real ones.
async function filled(daemon, title, records) {
  const turn = "think 4; chunks 380 56; tool 4; chunks 380 56; tool 6; chunks 200 56";
  const session = await daemon.session({ agent: "fast", title });
  for (;;) {
    const now = await daemon.sessionOf(session.id);
    if (now.seq >= records) return now;
    const left = records - now.seq;
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: left > 900 ? turn : `chunks ${Math.max(10, left - 10)} 56` });
    await daemon.untilIdle(session.id);
  }
}

// Runs in the page itself: from outside, everything is observed 100 to 200 ms later.
function noteRows() {
  const look = () => {
    if (document.querySelectorAll("[role=log] [data-key]").length < 2) return requestAnimationFrame(look);
    // After this frame is drawn.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { window.rowsDrawn = performance.now(); };
    return port2.postMessage(0);
  };
  requestAnimationFrame(look);
}

// From the start of the navigation until the tail is drawn.
async function openings(person, path, times) {
  const out = [];
  for (let count = 0; count < times; count += 1) {
    await person.open("/settings");
    await person.page.locator("h1").first().waitFor();
    await person.page.goto(`${person.daemon.origin}${path}`, { waitUntil: "commit" });
    await until(() => person.page.evaluate(() => window.rowsDrawn > 0), "its rows are drawn");
    out.push(await person.page.evaluate(() => window.rowsDrawn));
  }
  return out;
}

async function slowly(person, rate, run) {
  const cdp = await person.context.newCDPSession(person.page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate });
  try {
    return await run();
  } finally {
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  }
}

async function heap(person) {
  const cdp = await person.context.newCDPSession(person.page);
  await cdp.send("HeapProfiler.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  await cdp.detach();
  return usedSize / (1 << 20);
}
const nodes = (person) => person.page.evaluate(() => document.querySelectorAll("*").length);

async function measureOpen({ person, large, small }) {
  for (const [name, session] of [["1,000", small], ["100,000", large]]) {
    const seen = await openings(person, `/s/${session.id}`, 7);
    say(`warm open, ${name} records, median (worst)`, `${ms(median(seen))} (${ms(Math.max(...seen))})`, "250 ms");
  }
  const slow = await slowly(person, 6, () => openings(person, `/s/${large.id}`, 3));
  say("warm open, 100,000 records, CPU 6x, median", ms(median(slow)), "1,000 ms");
  say("elements in the 100,000-record session", await nodes(person), "4,000");
  say("heap in the 100,000-record session", `${(await heap(person)).toFixed(1)} MB`, "40 MB");
}

// Frames and long tasks, counted in the page while something runs.
function watchFrames(page) {
  return page.evaluate(() => {
    const seen = { frames: [], tasks: [], stop: false };
    window.seen = seen;
    let last = performance.now();
    const frame = (now) => {
      seen.frames.push(now - last);
      last = now;
      if (!seen.stop) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    new PerformanceObserver((list) => list.getEntries().forEach((one) => seen.tasks.push(one.duration))).observe({ type: "longtask" });
  });
}
const takeFrames = (page) => page.evaluate(() => {
  window.seen.stop = true;
  return { frames: window.seen.frames.slice(2), tasks: window.seen.tasks };
});

async function busyMs(person) {
  const cdp = await person.context.newCDPSession(person.page);
  await cdp.send("Performance.enable");
  const read = async () => (await cdp.send("Performance.getMetrics")).metrics.find((one) => one.name === "TaskDuration").value * 1000;
  return { read, end: () => cdp.detach() };
}

async function streamed({ daemon, large }) {
  const begun = Date.now();
  await daemon.api("POST", `/api/sessions/${large.id}/prompt`, { text: "paced 1500 10" });
  await daemon.untilIdle(large.id);
  return (Date.now() - begun) / 1000;
}

// Runs twice: counting frames makes the browser draw 60 per second, so work is measured without it.
async function measureStream(world) {
  const { person, large } = world;
  await person.open(`/s/${large.id}`);
  await log(person.page).locator("[data-key]").nth(1).waitFor();
  await person.page.waitForTimeout(3_000); // excludes prefetching
  const busy = await busyMs(person);
  const before = await busy.read();
  const unwatched = await streamed(world);
  say("streaming 100 updates/s: main thread", `${((await busy.read() - before) / unwatched).toFixed(0)} ms per s`, "120 ms per s");
  await busy.end();
  await watchFrames(person.page);
  const seconds = await streamed(world);
  const { frames, tasks } = await takeFrames(person.page);
  say("streaming 100 updates/s: frame p95 / p99", `${quantile(frames, 0.95).toFixed(1)} / ${quantile(frames, 0.99).toFixed(1)} ms`, "17 / 34 ms");
  say("streaming 100 updates/s: tasks over 50 ms", `${tasks.length} of ${seconds.toFixed(0)} s`, "0");
}

// What the page retains after a collection: heap, nodes (including detached ones), listeners.
async function held(person) {
  const cdp = await person.context.newCDPSession(person.page);
  await cdp.send("Performance.enable");
  await cdp.send("HeapProfiler.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const metrics = Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map((one) => [one.name, one.value]));
  await cdp.detach();
  return { heap: metrics.JSHeapUsedSize / (1 << 20), nodes: metrics.Nodes, listeners: metrics.JSEventListeners };
}

// Streams for this many minutes; measures after a tenth, in the middle and at the end.
async function measureMemory({ daemon, person, small }) {
  await person.open(`/s/${small.id}`);
  await log(person.page).locator("[data-key]").nth(1).waitFor();
  const begun = Date.now();
  for (const part of [0.1, 0.5, 1]) {
    const end = begun + part * minutes * 60_000;
    while (Date.now() < end) {
      await daemon.api("POST", `/api/sessions/${small.id}/prompt`, { text: "paced 40 10; tool 1; ".repeat(20) });
      await daemon.untilIdle(small.id);
    }
    const { heap: mb, nodes: all, listeners } = await held(person);
    const { seq } = await daemon.sessionOf(small.id);
    say(`streaming for ${(part * minutes).toFixed(1)} min, ${seq.toLocaleString("en")} records`, `${mb.toFixed(1)} MB`, "flat");
    say("  nodes, listeners", `${all}, ${listeners}`, "flat");
  }
  say("elements after it", await nodes(person), "4,000");
}

async function measureSwitch({ person, large, other }) {
  const seen = [];
  await person.open(`/s/${large.id}`);
  await log(person.page).locator("[data-key]").nth(1).waitFor();
  for (let count = 0; count < 8; count += 1) {
    const next = count % 2 === 0 ? other : large;
    // Click like a person: the link is in the side bar.
    const taken = await person.page.evaluate(async (path) => {
      const link = document.querySelector(`a[href="${path}"]`);
      if (!link) return -1;
      const title = document.querySelector("h1")?.textContent;
      const begun = performance.now();
      link.click();
      while (document.querySelector("h1")?.textContent === title || document.querySelectorAll("[role=log] [data-key]").length < 2) {
        await new Promise((done) => requestAnimationFrame(done));
        if (performance.now() - begun > 10_000) return -1;
      }
      return performance.now() - begun;
    }, `/s/${next.id}`);
    seen.push(taken);
  }
  say("switch between two sessions, median", seen.includes(-1) ? "no link found" : ms(median(seen)), "100 ms");
}

async function measureReattach({ daemon, person, small }) {
  await person.open(`/s/${small.id}`);
  await log(person.page).locator("[data-key]").nth(1).waitFor();
  await person.page.mouse.move(700, 400);
  await person.page.mouse.wheel(0, -700);
  await person.page.waitForTimeout(300);
  await person.context.setOffline(true);
  const cdp = await person.context.newCDPSession(person.page);
  await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
  await daemon.api("POST", `/api/sessions/${small.id}/prompt`, { text: "chunks 5000 40" });
  await daemon.untilIdle(small.id);
  const { seq } = await daemon.sessionOf(small.id);
  await cdp.send("Page.setWebLifecycleState", { state: "active" });
  await person.context.setOffline(false);
  const begun = Date.now();
  await person.page.evaluate(() => { dispatchEvent(new Event("online")); dispatchEvent(new Event("focus")); });
  const number = seq.toLocaleString("en");
  await until(async () => (await person.page.locator("body").innerText()).includes(number) ||
    Number(await person.page.getByRole("slider").first().getAttribute("aria-valuemax")) >= seq, "caught up", 20_000);
  say("reattach after 5,000 missed records", ms(Date.now() - begun), "1,000 ms");
}

async function measureScrub({ person, large }) {
  // Until the density has loaded, the timeline has no targets.
  await Promise.all([person.page.waitForResponse(/\/density/), person.open(`/s/${large.id}`)]);
  const slider = person.page.getByRole("slider").first();
  await slider.waitFor();
  await person.page.waitForTimeout(300);
  const box = await slider.boundingBox();
  const seen = [];
  for (const part of [0.2, 0.7, 0.4]) {
    const begun = Date.now();
    await person.page.mouse.click(box.x + box.width * part, box.y + box.height / 2);
    await person.page.getByRole("button", { name: /^Back to live/ }).waitFor();
    seen.push(Date.now() - begun);
    await person.page.getByRole("button", { name: /^Back to live/ }).click();
    await person.page.getByRole("button", { name: /^Back to live/ }).waitFor({ state: "hidden" });
  }
  say("a point of 100,000 records in the past, worst", ms(Math.max(...seen)), "150 ms");
}

async function main() {
  say("what", "seen", "budget");
  if (wants("sizes")) sizes();
  const parts = { open: measureOpen, stream: measureStream, switch: measureSwitch, reattach: measureReattach, scrub: measureScrub, memory: measureMemory };
  if (!Object.keys(parts).some(wants)) return;
  const daemon = await Daemon.start({ agents: { fast: { switches: ["pace_ms=0"] } } });
  const browser = await launchBrowser();
  try {
    const small = await filled(daemon, "A thousand records", 1_000);
    const other = await filled(daemon, "Ten thousand records", 10_000);
    const large = await filled(daemon, "A hundred thousand records", 100_000);
    const person = await Person.sitDown(browser, daemon, { reducedMotion: "no-preference" });
    await person.context.addInitScript(noteRows);
    await person.enter("/");
    for (const [name, run] of Object.entries(parts)) {
      if (!wants(name)) continue;
      await run({ daemon, person, small, other, large }).catch((error) => say(name, "failed", error.message.split("\n")[0]));
    }
    const troubles = person.taken();
    if (troubles.length > 0) console.log(`the page had trouble:\n  ${troubles.slice(0, 5).join("\n  ")}`);
  } finally {
    await browser.close();
    await daemon.stop();
  }
}

await main();
