// Every page in both themes and sizes: no accessibility violation, nothing wider than the screen,
// nothing refused by the policy; pictures of all of them are in build/web-shots.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { axeSource, themes } from "./harness/browser.mjs";
import { until } from "./harness/wait.mjs";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
let made = null;

// What the pages show: a task, sessions in several states.
async function furnish(daemon) {
  if (made) return made;
  const { task } = await daemon.api("POST", "/api/tasks", { title: "Invoice pagination drops rows", description: "Rows go missing" });
  const tour = await daemon.session({ agent: "demo", title: "Fix cursor and add tests", prompt: "find the bug", task_id: task.id });
  const asks = await daemon.session({ agent: "test", title: "Backfill script", prompt: "say 2; permission 1", task_id: task.id });
  const stopped = await daemon.session({ agent: "test", title: "Implement headers", prompt: "say 3; tool 2; say 2" });
  await daemon.untilIdle(stopped.id);
  await daemon.api("POST", `/api/sessions/${stopped.id}/stop`);
  await daemon.until(asks.id, (now) => now.pending.length > 0, "it asks");
  await daemon.until(tour.id, (now) => now.status !== "running" || now.pending.length > 0, "the demo pauses or ends").catch(() => {});
  made = { task, tour, asks, stopped };
  return made;
}

const pagesOf = (world) => ({
  inbox: "/", tasks: "/tasks", task: `/t/${world.task.id}`, new: "/new", search: "/search?q=cursor", settings: "/settings",
  session: `/s/${world.tour.id}`, asks: `/s/${world.asks.id}`, stopped: `/s/${world.stopped.id}`, unknown: "/s/sess_01k00000000000000000000000",
});

async function settle(page) {
  await page.locator("h1, h2").first().waitFor({ state: "attached" });
  await page.evaluate(() => document.fonts.ready);
  await until(async () => await page.locator("[aria-busy=true], .skeleton").count() === 0, "nothing is loading", 4000).catch(() => {});
  await page.waitForTimeout(250);
}

async function violations(page) {
  await page.evaluate(readFileSync(axeSource(), "utf8"));
  const found = await page.evaluate(async (wanted) => {
    const result = await window.axe.run(document, { runOnly: { type: "tag", values: wanted }, resultTypes: ["violations"] });
    return result.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(" | ")}`);
  }, tags);
  return found;
}

const tooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

export default function (suite) {
  for (const size of ["desktop", "phone"]) {
    for (const theme of themes) {
      suite.test(`axe_finds_nothing_on_any_page_${size}_${theme}`, async ({ daemon, person }) => {
        const world = await furnish(daemon);
        const one = await person({ size, theme });
        one.expect(/status of 404/);
        await one.enter("/");
        const problems = [];
        for (const [name, path] of Object.entries(pagesOf(world))) {
          await one.open(path);
          await settle(one.page);
          await one.shot(`page-${name}`);
          for (const found of await violations(one.page)) problems.push(`${name}: ${found}`);
          const wide = await tooWide(one.page);
          if (wide > 0) problems.push(`${name}: ${wide} px wider than the screen`);
        }
        assert.deepEqual(problems, []);
      });
    }
  }

  for (const [size, title] of [["narrow", "320_px"], ["zoomed", "200_percent"]]) {
    suite.test(`every_page_fits_at_${title}`, async ({ daemon, person }) => {
      const world = await furnish(daemon);
      const one = await person({ size });
      one.expect(/status of 404/);
      await one.enter("/");
      const problems = [];
      for (const [name, path] of Object.entries(pagesOf(world))) {
        await one.open(path);
        await settle(one.page);
        await one.shot(`page-${name}`);
        const wide = await tooWide(one.page);
        if (wide > 0) problems.push(`${name}: ${wide} px wider than the screen`);
      }
      assert.deepEqual(problems, []);
    });
  }

  suite.test("touch_targets_are_44_px_on_a_phone", async ({ daemon, person }) => {
    const world = await furnish(daemon);
    const one = await person({ size: "phone" });
    one.expect(/status of 404/);
    await one.enter("/");
    const problems = [];
    for (const [name, path] of Object.entries(pagesOf(world))) {
      await one.open(path);
      await settle(one.page);
      const small = await one.page.evaluate(() => {
        // What a finger hits: the box with what a pseudo element adds around it.
        const reach = (element) => {
          const box = element.getBoundingClientRect();
          const grown = getComputedStyle(element, "::after");
          const add = grown.content !== "none" && grown.position === "absolute"
            ? { x: Math.max(0, -parseFloat(grown.left) || 0) * 2, y: Math.max(0, -parseFloat(grown.top) || 0) * 2 } : { x: 0, y: 0 };
          return { width: box.width + add.x, height: box.height + add.y };
        };
        const out = [];
        for (const element of document.querySelectorAll("button, [role=tab], [role=menuitem], select, input:not([type=hidden])")) {
          if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
          const box = reach(element);
          if (box.width === 0 || element.closest("[inert], [aria-hidden=true]") || element.matches("[tabindex='-1']:not([role=tab])")) continue;
          const label = element.closest("label");
          const height = Math.max(box.height, label ? label.getBoundingClientRect().height : 0);
          if (height < 43.5) out.push(`${element.tagName} '${(element.getAttribute("aria-label") ?? element.textContent).trim().slice(0, 30)}' ${Math.round(box.width)}x${Math.round(height)}`);
        }
        return out;
      });
      problems.push(...small.map((text) => `${name}: ${text}`));
    }
    assert.deepEqual(problems, []);
  });

  suite.test("forced_colours_and_motion_are_honoured", async ({ daemon, person }) => {
    const world = await furnish(daemon);
    const one = await person({ forcedColors: "active" });
    await one.enter(`/s/${world.asks.id}`);
    await settle(one.page);
    await one.shot("page-forced-colours");
    const moving = await one.page.evaluate(() => document.getAnimations().filter((each) => each.playState === "running" &&
      (each.effect?.getComputedTiming().duration ?? 0) > 20).length);
    assert.equal(moving, 0, "something moves although motion is reduced");
  });
}
