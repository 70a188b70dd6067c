// The page's requests and their order: rows first, nothing twice, nothing for deleted sessions; and
// the side effects of opening a page.
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";

import { Person } from "./harness/browser.mjs";
import { Daemon } from "./harness/daemon.mjs";
import { log } from "./harness/transcript.mjs";
import { settled, until } from "./harness/wait.mjs";

async function turns(daemon, session, count, text = "think 2; say 3; tool 2; say 2") {
  for (let turn = 0; turn < count; turn += 1) {
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text });
    await daemon.untilIdle(session.id);
  }
}

// The gzip sizes of all scripts loaded up to the first rows on the screen.
async function scriptsBeforeRows(person, path) {
  const scripts = new Map();
  const gather = async (answer) => {
    const path = new URL(answer.url()).pathname;
    if (!path.endsWith(".js")) return;
    const body = await answer.body().catch(() => Buffer.alloc(0));
    scripts.set(path, gzipSync(body, { level: 9 }).length);
  };
  person.page.on("response", gather);
  await person.page.addInitScript(() => {
    const look = () => {
      if (document.querySelectorAll("[role=log] [data-key]").length > 1) window.rowsAt ??= performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await person.open(path);
  await until(() => person.page.evaluate(() => window.rowsAt !== undefined), "its rows are there");
  await settled(person.page);
  const early = await person.page.evaluate(() => performance.getEntriesByType("resource")
    .filter((one) => one.startTime <= window.rowsAt).map((one) => new URL(one.name).pathname));
  person.page.off("response", gather);
  return early.filter((name) => scripts.has(name)).map((name) => ({ name, bytes: scripts.get(name) }));
}

// From now on the first two requests of each matching file fail, as if the daemon were down.
// Scripts named in index.html are exempt: without them no page could retry.
async function failAtFirst(person, pattern) {
  const named = (await person.daemon.askOpenly("GET", "/")).body.match(/\/assets\/[^"]+\.js/g);
  const tries = new Map();
  person.expect(/net::ERR_/);
  await person.page.route(pattern, (route) => {
    const { pathname } = new URL(route.request().url());
    const before = tries.get(pathname) ?? 0;
    if (named.includes(pathname) || before === 2) return route.continue();
    tries.set(pathname, before + 1);
    return route.abort("connectionrefused");
  });
  return tries;
}

const styleOf = (locator, name) => locator.evaluate((element, wanted) => getComputedStyle(element)[wanted], name);

const bareSheets = (page) => page.evaluate(() => [...document.styleSheets].filter((sheet) => {
  try { return sheet.cssRules.length === 0; } catch { return true; }
}).map((sheet) => sheet.href));

export default function (suite) {
  suite.configure({ agents: { fast: { switches: ["pace_ms=0"] } } });

  suite.test("loading_a_session_takes_few_scripts_before_its_rows", async ({ daemon, person: sitDown }) => {
    const session = await daemon.session({ agent: "test", title: "Rows first" });
    await turns(daemon, session, 1);
    const person = await sitDown();
    await person.enter("/settings");
    const scripts = await scriptsBeforeRows(person, `/s/${session.id}`);
    const bytes = scripts.reduce((sum, one) => sum + one.bytes, 0);
    console.log(`  ${(bytes / 1024).toFixed(1)} KB in ${scripts.length} scripts`);
    assert.ok(scripts.length > 2, "the page's own scripts are among them");
    assert.ok(!scripts.some((one) => /Bottom|Timeline|workbench|Inbox|Inspector/.test(one.name)), JSON.stringify(scripts));
  });

  for (const [files, pattern] of [["sheets", /\/assets\/.*\.css$/], ["files", /\/assets\/.*\.(css|js)$/]]) {
    suite.test(`loading_a_part_whose_${files}_failed_at_first_brings_its_style`, async ({ daemon, person: sitDown }) => {
      const session = await daemon.session({ agent: "test", title: "Dressed" });
      await turns(daemon, session, 1);
      const person = await sitDown();
      await person.enter("/settings");
      const tries = await failAtFirst(person, pattern);
      await person.open(`/s/${session.id}`);
      const timeline = person.page.locator(".timeline");
      const composer = person.page.locator("form.composer");
      await Promise.all([timeline.waitFor(), composer.waitFor()]);
      // From its first frame on.
      assert.equal(await styleOf(timeline, "display"), "grid");
      assert.equal(await styleOf(composer, "position"), "relative");
      await until(async () => (await bareSheets(person.page)).length === 0, "every sheet is there");
      for (const part of ["index", "SessionPage", "Timeline", "Bottom"]) {
        const sheet = [...tries].find(([path]) => path.includes(`/${part}-`) && path.endsWith(".css"));
        assert.equal(sheet?.[1], 2, `the sheet of ${part} failed twice`);
      }
    });
  }

  suite.test("loading_asks_for_nothing_while_text_streams", async ({ daemon, person: sitDown }) => {
    const session = await daemon.session({ agent: "test", title: "Streams" });
    await turns(daemon, session, 1);
    const person = await sitDown();
    await person.enter(`/s/${session.id}`);
    await log(person.page).locator("[data-key]").nth(1).waitFor();
    await settled(person.page);
    const asked = [];
    // Parts that the page prefetches while idle do not count.
    person.page.on("request", (request) => void (/\/api\//.test(request.url()) && asked.push(new URL(request.url()).pathname)));
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "paced 200 10" });
    await daemon.untilIdle(session.id);
    assert.ok(asked.length < 20, `${asked.length} requests: ${asked.slice(0, 12).join(" ")}`);
  });

  suite.test("loading_ends_with_a_session_that_is_deleted", async ({ daemon, person: sitDown }) => {
    const session = await daemon.session({ agent: "test", title: "Goes away" });
    await turns(daemon, session, 2);
    const person = await sitDown();
    // The workspace loads last, with these requests; the session must not be deleted before them.
    const last = [/\/git\/status/, /\/shells$/].map((path) => person.page.waitForResponse(path));
    await person.enter(`/s/${session.id}`);
    await log(person.page).locator("[data-key]").nth(1).waitFor();
    await Promise.all(last);
    await settled(person.page);
    const refused = [];
    person.page.on("response", (answer) => void (answer.status() === 404 && refused.push(answer.url())));
    await daemon.api("DELETE", `/api/sessions/${session.id}?confirm=true&force=true`);
    await person.page.getByText("This session is not there any more").waitFor();
    await settled(person.page);
    assert.deepEqual(refused.filter((url) => !/git\/status/.test(url)), []);
  });

  suite.test("loading_a_link_into_a_folded_turn_opens_it", async ({ daemon, person: sitDown }) => {
    const session = await daemon.session({ agent: "test", title: "Folded" });
    await turns(daemon, session, 4);
    const [call] = await daemon.events(session.id, "tool.call");
    const person = await sitDown();
    await person.enter("/settings");
    await person.open(`/s/${session.id}#e${call.seq}`);
    const row = log(person.page).locator(`[data-key="${call.seq}"]`);
    await row.waitFor();
    await until(() => row.isVisible(), "the call is seen");
  });

  suite.test("loading_the_past_has_its_older_pages", async ({ daemon, person: sitDown }) => {
    const session = await daemon.session({ agent: "fast", title: "Long ago" });
    await turns(daemon, session, 60, "say 1; tool 1; say 1; tool 1; say 1");
    const { seq } = await daemon.sessionOf(session.id);
    const person = await sitDown();
    await person.enter(`/s/${session.id}`);
    const slider = person.page.getByRole("slider").first();
    await slider.focus();
    await person.page.keyboard.press("ArrowLeft");
    await person.page.getByRole("button", { name: /^Back to live/ }).waitFor();
    const asked = [];
    person.page.on("request", (request) => asked.push(request.url()));
    const box = await log(person.page).boundingBox();
    await person.page.mouse.move(box.x + 300, box.y + 200);
    await until(async () => {
      await person.page.mouse.wheel(0, -20_000);
      return asked.some((url) => /rows\?.*at=/.test(url));
    }, "an older page of the past is asked for");
    await until(async () => {
      await person.page.mouse.wheel(0, -20_000);
      const keys = await log(person.page).locator("[data-key]").evaluateAll((rows) => rows.map((row) => Number.parseInt(row.dataset.key, 10)));
      return Math.min(...keys.filter(Number.isFinite)) < seq / 20;
    }, "its first rows are there");
  });

  for (const policy of ["active", "never"]) {
    suite.test(`loading_resumes_a_lost_agent_as_the_daemon_is_set_${policy}`, async ({ browser }) => {
      const daemon = await Daemon.start({ lines: ["[sessions]", `resume_on_open = "${policy}"`] });
      try {
        const session = await daemon.session({ agent: "test", title: "Lost" });
        await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "paced 2000 20" });
        await daemon.until(session.id, (one) => one.status === "running", "it runs");
        await daemon.kill();
        daemon.killAgents();
        await daemon.up();
        await daemon.until(session.id, (one) => one.needs_resume, "its agent is lost");
        const person = await Person.sitDown(browser, daemon);
        const asked = [];
        person.page.on("request", (request) => void (request.method() === "POST" && /\/resume$/.test(request.url()) && asked.push(request.url())));
        await person.enter(`/s/${session.id}`);
        await log(person.page).locator("[data-key]").nth(1).waitFor();
        if (policy === "active") await daemon.until(session.id, (one) => one.is_agent_running, "its agent is back");
        await settled(person.page);
        assert.equal(asked.length, policy === "active" ? 1 : 0);
        await person.leave();
      } finally {
        await daemon.stop();
      }
    });
  }
}
