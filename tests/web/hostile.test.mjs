// Any text of an agent or a person is shown as text: nothing runs, nothing is fetched, no part of
// the page is covered or faked. The guard of every page fails the test on any attempt.
import assert from "node:assert/strict";

import { bare, log, saidOnPage, untilSaid } from "./harness/transcript.mjs";
import { settled } from "./harness/wait.mjs";

const markup = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror=\"window.hacked = 2\">",
  "<img src=\"http://127.0.0.9:9/pixel.png\">",
  "![pixel](http://127.0.0.9:9/pixel.png)",
  "<svg onload=\"window.hacked = 3\"><a xlink:href=\"javascript:alert(1)\">x</a></svg>",
  "<iframe src=\"javascript:parent.hacked = 4\"></iframe>",
  "[a link](javascript:window.hacked=5)",
  "[data](data:text/html,<script>window.hacked=6</script>)",
  "<a href=\"vbscript:x\" onclick=\"window.hacked=7\">click</a>",
  "<style>body { display: none }</style>",
  "<div style=\"position: fixed; inset: 0; background: red\">covered</div>",
  "<form action=\"http://127.0.0.9:9/\"><button>Allow once</button></form>",
  "<base href=\"http://127.0.0.9:9/\"><meta http-equiv=refresh content=\"0;url=http://127.0.0.9:9/\">",
  "````\n```html\n<script>window.hacked = 8</script>\n",
  "\u202E<b>reversed</b>\u2066 zero\u200Bwidth \u0007bell \u001B[31mred\u001B[0m \u001B]8;;javascript:x\u0007link\u001B]8;;\u0007",
  "`</textarea><script>window.hacked = 9</script>`",
  "| a | b |\n|---|---|\n| <script>window.hacked=10</script> | [x](javascript:1) |",
];

async function expectHarmless(page, where) {
  assert.equal(await page.evaluate(() => window.hacked), undefined, where);
  const found = await page.evaluate(() => {
    const odd = [];
    for (const element of document.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name)) odd.push(`${element.tagName} ${name}`);
        if (/^(href|src|xlink:href|action|formaction)$/i.test(name) && /^\s*(javascript|vbscript|data:text)/i.test(value)) odd.push(`${element.tagName} ${name}=${value}`);
      }
    }
    for (const name of ["iframe", "object", "embed", "base", "meta[http-equiv]", "[role=log] script", "[role=log] style", "[role=log] form",
      "[role=log] svg a", "[role=log] img[src^='http']"]) {
      if (document.querySelector(name)) odd.push(name);
    }
    return odd;
  });
  assert.deepEqual(found, [], where);
  assert.ok(await page.locator("h1").first().isVisible(), "the page is not covered");
}

export default function (suite) {
  suite.test("hostile_text_of_agents_and_people_is_text", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "<img src=x onerror=hacked=1> \u202Etitle", prompt: `${markup[0]}\nsay 1` });
    await daemon.untilIdle(session.id);
    for (const text of markup.slice(1)) {
      await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: `${text}\nsay 1` });
      await daemon.untilIdle(session.id);
    }
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "recall" });
    await daemon.untilIdle(session.id);
    for (const size of ["desktop", "phone"]) {
      const one = await person({ size });
      await one.enter(`/s/${session.id}`);
      await untilSaid(one.page, `<p${markup.length + 1}:end=`);
      const said = await saidOnPage(one.page);
      assert.ok(said.includes(bare("window.hacked = 1")), "it is shown");
      await expectHarmless(one.page, size);
      await one.shot("hostile");
      for (const path of ["/", "/tasks", "/search?q=hacked"]) {
        await one.open(path);
        await settled(one.page);
        assert.equal(await one.page.evaluate(() => window.hacked), undefined, path);
      }
    }
  });

  suite.test("hostile_a_link_of_an_agent_leaves_without_a_referrer_or_an_opener", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "Links", prompt: "[docs](https://example.org/a) and https://example.org/b\nsay 1" });
    await daemon.untilIdle(session.id);
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "recall" });
    await daemon.untilIdle(session.id);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p2:end=");
    const links = await one.page.locator("[role=log] a[href^='https://example.org']").evaluateAll((all) => all.map((one) => [one.target, one.rel]));
    assert.ok(links.length > 0, "there is a link");
    for (const [target, rel] of links) {
      assert.equal(target, "_blank");
      assert.match(rel, /noreferrer|noopener/);
    }
  });

  suite.test("hostile_a_megabyte_and_long_lines_do_not_break_the_page", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "Large", prompt: "flood 1048576" });
    await daemon.untilIdle(session.id);
    const one = await person({ size: "phone" });
    await one.enter(`/s/${session.id}`);
    await log(one.page).waitFor();
    const wide = await one.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    const nodes = await one.page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 4000, `${nodes} elements`);
  });
}
