// Every page in both themes and sizes: no accessibility violation, nothing wider than the screen,
// no policy violation; pictures of all of them are in build/web-shots. Each page is opened once per
// size; themes and narrower screens are then tried in place.
import assert from "node:assert/strict";

import { sizes } from "./harness/browser.mjs";
import { colourRules, everyRule, tooSmall, tooWide, violations } from "./harness/fit.mjs";
import { settled, until } from "./harness/wait.mjs";

// The content of the pages: a task, sessions in several states.
async function furnish(daemon) {
  const { task } = await daemon.api("POST", "/api/tasks", { title: "Invoice pagination drops rows", description: "Rows go missing" });
  const asks = await daemon.session({ agent: "test", title: "Backfill script", prompt: "say 2; permission 1", task_id: task.id });
  await daemon.until(asks.id, (now) => now.pending.length > 0, "it asks first");
  const tour = await daemon.session({ agent: "demo", title: "Fix cursor and add tests", prompt: "find the bug", task_id: task.id });
  await daemon.until(tour.id, (now) => now.pending.length > 0, "the demo asks");
  const stopped = await daemon.session({ agent: "test", title: "Implement headers", prompt: "say 3; tool 2; say 2" });
  await daemon.untilIdle(stopped.id);
  await daemon.api("POST", `/api/sessions/${stopped.id}/stop`);
  return { task, tour, asks, stopped };
}

const pagesOf = (world) => ({
  inbox: "/", tasks: "/tasks", task: `/t/${world.task.id}`, new: "/new", search: "/search?q=cursor", settings: "/settings", audit: "/settings/audit",
  session: `/s/${world.tour.id}`, asks: `/s/${world.asks.id}`, stopped: `/s/${world.stopped.id}`, unknown: "/s/sess_01k00000000000000000000000",
});

async function inTheme(one, theme) {
  one.theme = theme;
  await one.page.evaluate((name) => { document.documentElement.dataset.theme = name; }, theme);
}

async function lookAt(one, name, found) {
  const { page, size } = one;
  const note = (about, problems) => found[about].push(...problems.map((text) => `${name}: ${text}`));
  const wide = async (about) => note(about, [await tooWide(page)].filter((px) => px > 0).map((px) => `${px} px wider than the screen`));
  await inTheme(one, "light");
  note("light", await violations(page, everyRule));
  await one.shot(`page-${name}`);
  await wide("light");
  if (size === "phone") note("targets", await tooSmall(page));
  await inTheme(one, "dark");
  note("dark", await violations(page, colourRules));
  await one.shot(`page-${name}`);
  await page.setViewportSize(sizes[size === "phone" ? "narrow" : "zoomed"].viewport);
  await settled(page);
  await wide("small");
  await one.shot(`page-${name}-${size === "phone" ? "320px" : "200percent"}`);
  await page.setViewportSize(sizes[size].viewport);
}

export default function (suite) {
  let furnished = null;
  const walks = {};

  // Visits all pages once per size; each test below checks its part of the findings.
  async function walk({ daemon, person }, size) {
    const world = await (furnished ??= furnish(daemon));
    const one = await person({ size });
    one.expect(/status of 404 .*sess_01k00000000000000000000000/);
    await one.enter("/");
    const found = { light: [], dark: [], small: [], targets: [] };
    for (const [name, path] of Object.entries(pagesOf(world))) {
      await one.open(path);
      await settled(one.page);
      await until(async () => await one.page.locator(".acts [aria-disabled=true], [data-permission] [aria-disabled=true]").count() === 0, "its answers may be given");
      await lookAt(one, name, found);
    }
    return found;
  }
  const walked = (world, size) => (walks[size] ??= walk(world, size));

  for (const size of ["desktop", "phone"]) {
    for (const theme of ["light", "dark"]) {
      suite.test(`axe_finds_nothing_on_any_page_${size}_${theme}`, async (world) => {
        assert.deepEqual((await walked(world, size))[theme], []);
      });
    }
  }
  suite.test("every_page_fits_at_320_px", async (world) => {
    assert.deepEqual((await walked(world, "phone")).small, []);
  });
  suite.test("every_page_fits_at_200_percent", async (world) => {
    assert.deepEqual((await walked(world, "desktop")).small, []);
  });
  suite.test("touch_targets_are_44_px_on_a_phone", async (world) => {
    assert.deepEqual((await walked(world, "phone")).targets, []);
  });

  suite.test("forced_colours_and_motion_are_honoured", async ({ daemon, person }) => {
    const world = await (furnished ??= furnish(daemon));
    const one = await person({ forcedColors: "active" });
    await one.enter(`/s/${world.asks.id}`);
    await settled(one.page);
    await one.shot("page-forced-colours");
    const moving = await one.page.evaluate(() => document.getAnimations().filter((each) => each.playState === "running" &&
      (each.effect?.getComputedTiming().duration ?? 0) > 20).length);
    assert.equal(moving, 0, "something moves although motion is reduced");
  });
}
