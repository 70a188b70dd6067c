// What browsers do to pages: they freeze them, cache and restore them, open a dozen at once, and
// disable features on an address without TLS.
import assert from "node:assert/strict";

import { launchBrowser, Person } from "./harness/browser.mjs";
import { Daemon } from "./harness/daemon.mjs";
import { bare, faultsOfMarkers, log, mounted, saidOnPage, untilSaid } from "./harness/transcript.mjs";
import { until } from "./harness/wait.mjs";

const tabs = 12;

// Queries the page by protocol: Playwright loses track of a page restored from the cache.
async function valueOf(cdp, expression) {
  const { result } = await cdp.send("Runtime.evaluate", { expression, returnByValue: true });
  return result.value;
}

export default function (suite) {
  suite.configure({ agents: { paced: { switches: ["pace_ms=10"] } } });

  suite.test("N4_a_frozen_page_catches_up_and_says_nothing_of_it", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Frozen", prompt: "say 3" });
    await daemon.untilIdle(session.id);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:end=3>");
    const cdp = await one.context.newCDPSession(one.page);
    await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 150" });
    await daemon.untilIdle(session.id);
    await cdp.send("Page.setWebLifecycleState", { state: "active" });
    await untilSaid(one.page, "<p2:end=150>");
    assert.deepEqual(faultsOfMarkers(await saidOnPage(one.page), 2, 150), []);
    assert.equal(await one.page.getByText(/reconnecting|no connection/i).count(), 0);
  });

  suite.test("N4_a_page_that_comes_back_from_the_browsers_cache_goes_on", async ({ daemon }) => {
    const browser = await launchBrowser({ ignoreDefaultArgs: ["--disable-back-forward-cache"] });
    try {
      const session = await daemon.session({ agent: "paced", title: "Put away", prompt: "say 3" });
      await daemon.untilIdle(session.id);
      const one = await Person.sitDown(browser, daemon);
      one.expect(/favicon\.ico/); // from the page visited in between
      await one.enter(`/s/${session.id}`);
      await untilSaid(one.page, "<p1:end=3>");
      const cdp = await one.context.newCDPSession(one.page);
      await valueOf(cdp, "window.kept = 'the same page'; addEventListener('pageshow', (e) => { window.isBack = e.persisted; })");
      await cdp.send("Page.navigate", { url: `${daemon.origin}/healthz` });
      await daemon.until(session.id, (now) => now.connections === 0, "the page has let go");
      await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 40" });
      await daemon.untilIdle(session.id);
      const { currentIndex, entries } = await cdp.send("Page.getNavigationHistory");
      await cdp.send("Page.navigateToHistoryEntry", { entryId: entries[currentIndex - 1].id });
      await until(async () => await valueOf(cdp, "window.kept") === "the same page", "the page is back as it was");
      assert.equal(await valueOf(cdp, "window.isBack"), true);
      await until(async () => bare(await valueOf(cdp, "document.querySelector('[role=log]').innerText")).includes(bare("<p2:end=40>")),
        "it has caught up");
      assert.deepEqual(one.taken(), []);
    } finally {
      await browser.close();
    }
  });

  suite.test("U6_twelve_tabs_of_one_browser_all_get_their_rows_and_what_comes_then", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Twelve", prompt: "say 3" });
    await daemon.untilIdle(session.id);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    const pages = [one.page];
    while (pages.length < tabs) {
      const page = await one.context.newPage();
      await page.goto(`${daemon.origin}/s/${session.id}`);
      pages.push(page);
    }
    await log(pages.at(-1)).locator("[data-key]").nth(1).waitFor();
    await daemon.until(session.id, (now) => now.connections === tabs, "all of them follow");
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 20" });
    for (const page of pages) {
      await page.bringToFront();
      await untilSaid(page, "<p2:end=20>");
      const said = bare((await mounted(page)).map((row) => row.text).join(" "));
      assert.deepEqual(faultsOfMarkers(said, 2, 20), []);
    }
  });

  suite.test("lan_over_plain_http_everything_works_that_can", async () => {
    const name = "perdure.test";
    const daemon = await Daemon.start({ names: [name] });
    const browser = await launchBrowser({ args: [`--host-resolver-rules=MAP ${name} 127.0.0.1`] });
    try {
      daemon.origin = `http://${name}:${daemon.port}`;
      const session = await daemon.session({ agent: "test", title: "On the LAN", prompt: "say 3" });
      await daemon.untilIdle(session.id);
      const one = await Person.sitDown(browser, daemon);
      one.expect(/Cross-Origin-Opener-Policy header has been ignored/);
      await one.enter(`/s/${session.id}`);
      await untilSaid(one.page, "<p1:end=3>");
      const has = await one.page.evaluate(() => ({
        secure: isSecureContext, clipboard: "clipboard" in navigator, subtle: crypto.subtle !== undefined, uuid: "randomUUID" in crypto,
      }));
      assert.deepEqual(has, { secure: false, clipboard: false, subtle: false, uuid: false });
      const box = one.page.getByRole("textbox", { name: /message/i });
      await box.fill("say 2");
      await box.press("Control+Enter");
      await untilSaid(one.page, "<p2:end=2>");
      await one.page.keyboard.press("Escape");
      await log(one.page).click();
      await one.page.keyboard.press("k");
      await one.page.keyboard.press("c");
      await one.page.getByText("Link copied").waitFor();
      await one.open("/settings/notifications");
      await one.page.getByText(/HTTPS/).first().waitFor();
      await one.shot("lan-notifications");
      await one.open("/settings/devices");
      await one.page.getByRole("button", { name: "Make a link" }).click();
      await one.page.getByRole("img", { name: "The link as a QR code" }).waitFor();
      await one.shot("lan-devices");
      assert.deepEqual(one.taken(), []);
    } finally {
      await browser.close();
      await daemon.stop();
    }
  });
}
