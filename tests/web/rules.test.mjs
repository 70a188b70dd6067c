// Rules made on the page: from a question and in the settings. A rule is tried before it is saved,
// and saving it answers only what the person meant to answer.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { sizes } from "./harness/browser.mjs";
import { colourRules, everyRule, tooSmall, tooWide, violations } from "./harness/fit.mjs";
import { settled, stoodStill, until } from "./harness/wait.mjs";

const agent = fileURLToPath(new URL("./harness/asking_agent.mjs", import.meta.url));
const options = [{ optionId: "once", name: "Allow once", kind: "allow_once" }, { optionId: "no", name: "Reject", kind: "reject_once" }];
const run = (command) => ({ asked: { title: "Run it", kind: "execute", rawInput: { command } }, options });

async function asking(daemon, title, spec, more = {}) {
  const session = await daemon.session({ agent: "asking", title, prompt: JSON.stringify(spec), cwd: join(daemon.folder, "work"), ...more });
  return daemon.until(session.id, (now) => now.pending.length > 0 && now.status === "waiting", `${title} asks`);
}
// A past question with its answer.
async function asked(daemon, title, command, option) {
  const session = await asking(daemon, title, run(command));
  await daemon.api("POST", `/api/permissions/${session.pending[0].perm_id}`, { option_id: option });
  await daemon.untilIdle(session.id);
}
const resolved = (daemon, session) => daemon.events(session.id, "permission.resolved");
const typedRules = async (daemon) => (await daemon.api("GET", "/api/rules")).typed_rules;
async function forgetRules(daemon) {
  const { rules, typed_rules: typed } = await daemon.api("GET", "/api/rules");
  for (const { id } of [...rules, ...typed]) await daemon.api("DELETE", `/api/rules/${id}`);
}
const card = (page) => page.locator("[data-permission]");
const always = (page) => card(page).getByRole("button", { name: "Always allow…" });
const dialog = (page) => page.getByRole("dialog", { name: "Always allow" });
const save = (page) => dialog(page).getByRole("button", { name: "Save rule", exact: true });
const saveAndAllow = (page) => dialog(page).getByRole("button", { name: "Save rule and allow once" });
const untilReady = (one) => until(async () => await one.count() > 0 && await one.isEnabled(), "it may be pressed");
const wordsOf = async (locator) => (await locator.innerText()).replaceAll(/\s+/g, " ");
const row = (page, title) => page.getByRole("main").locator("li").filter({ hasText: title }).first();

// The page, or a dialog over it.
const wide = async (page) => [await tooWide(page), ...await page.locator("dialog[open], dialog[open] .body").evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth))]
  .filter((px) => px > 0).map((px) => `${px} px too wide`);

async function openDialog(one, session) {
  await one.enter(`/s/${session.id}`);
  await untilReady(always(one.page));
  await always(one.page).click();
  await dialog(one.page).waitFor();
}
// The page's changing requests, in order.
function sent(page) {
  const all = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "POST" && /^\/api\/(rules$|permissions\/)/.test(pathname)) all.push([pathname, request.postDataJSON()]);
  });
  return all;
}

export default function (suite) {
  suite.configure({ agents: { asking: { command: [process.execPath, agent] } } });
  const test = (name, body) => suite.test(name, async (world) => {
    await forgetRules(world.daemon);
    await body(world);
  });

  test("RULE9_RULE11_a_rule_is_made_of_a_question_once_it_was_tried", async ({ daemon, person }) => {
    await asked(daemon, "Allowed before", "make check -j2", "once");
    await asked(daemon, "Denied before", "make check -k", "no");
    const session = await asking(daemon, "Makes a rule", run("make check -j2 --watch"));
    const one = await person();
    const requests = sent(one.page);
    await openDialog(one, session);
    // The narrowest first, in this folder.
    await dialog(one.page).getByText(/Would have allowed 1 of \d+ questions of the last 30 days\./).waitFor();
    assert.match(await wordsOf(dialog(one.page)), /Perdure will allow commands that start with make check -j2 --watch in sessions that work in \S+\/work or below, without asking you\./);
    let letGo = () => {};
    const held = new Promise((done) => { letGo = done; });
    await one.page.route("**/api/rules/test", async (route) => {
      await held;
      await route.continue();
    });
    await untilReady(save(one.page));
    await dialog(one.page).getByRole("radio", { name: "commands that start with make check", exact: true }).check();
    await stoodStill(saveAndAllow(one.page));
    for (const button of [save(one.page), saveAndAllow(one.page)]) assert.ok(!await button.isEnabled(), "not before it was tried");
    letGo();
    await dialog(one.page).getByText(/Would have allowed 3 of \d+ questions of the last 30 days\./).waitFor();
    await dialog(one.page).getByText("1 of them was answered otherwise.").waitFor();
    const listed = await dialog(one.page).getByRole("list", { name: "Questions that it matches" }).getByRole("listitem").allInnerTexts();
    assert.deepEqual(listed.map((text) => text.replaceAll(/\s+/g, " ")).map((text) => /^make check.*(Open|Denied|Allowed)[^“]*“[^”]+”/.exec(text)?.[0]), [
      "make check -k Denied from the command line “Denied before”", "make check -j2 --watch Open “Makes a rule”", "make check -j2 Allowed from the command line “Allowed before”",
    ]);
    await untilReady(save(one.page));
    await save(one.page).click();
    await dialog(one.page).waitFor({ state: "hidden" });
    const folder = join(daemon.folder, "work");
    assert.deepEqual(requests, [["/api/rules", { effect: "allow", argv: ["make", "check"], folder }]]);
    assert.deepEqual(await resolved(daemon, session), [], "to save is no answer");
    assert.equal((await typedRules(daemon))[0].by.split(":")[0], "browser");
    // The rule answers the next question.
    const next = await daemon.session({ agent: "asking", title: "Next", prompt: JSON.stringify(run("make check --all")), cwd: folder });
    await daemon.untilIdle(next.id);
    assert.match((await resolved(daemon, next))[0].by, /^rule:rule_/);
  });

  test("RULE9_the_scope_of_a_rule_is_chosen", async ({ daemon, person }) => {
    const session = await asking(daemon, "Chooses where", run("cargo test"));
    const one = await person();
    const requests = sent(one.page);
    await openDialog(one, session);
    const scopes = { [`in sessions that work in ${join(daemon.folder, "work")} or below`]: { folder: join(daemon.folder, "work") },
      "in the session “Chooses where”": { session_id: session.id }, "in every session": {} };
    const names = await dialog(one.page).getByRole("group", { name: "Where" }).getByRole("radio").evaluateAll((all) => all.map((each) => each.closest("label").textContent.trim()));
    assert.deepEqual(names, Object.keys(scopes));
    await dialog(one.page).getByRole("radio", { name: "in every session" }).check();
    await dialog(one.page).getByRole("checkbox", { name: "Only when Agent asking asks" }).check();
    await dialog(one.page).getByText(/Perdure will allow commands that start with cargo test in every session, when Agent asking asks, without/).waitFor();
    await untilReady(save(one.page));
    await save(one.page).click();
    await dialog(one.page).waitFor({ state: "hidden" });
    await always(one.page).click();
    await dialog(one.page).getByRole("radio", { name: "in the session “Chooses where”" }).check();
    await untilReady(save(one.page));
    await save(one.page).click();
    await dialog(one.page).waitFor({ state: "hidden" });
    assert.deepEqual(requests.map(([, body]) => body), [
      { effect: "allow", argv: ["cargo", "test"], agent: "asking" }, { effect: "allow", argv: ["cargo", "test"], session_id: session.id },
    ]);
  });

  test("to_save_and_allow_sends_the_rule_and_then_the_digest_that_was_shown", async ({ daemon, person }) => {
    const session = await asking(daemon, "Both at once", run("npm run lint"));
    const one = await person();
    const requests = sent(one.page);
    await openDialog(one, session);
    await untilReady(saveAndAllow(one.page));
    await saveAndAllow(one.page).click();
    await daemon.untilIdle(session.id);
    const [{ perm_id: permission, digest }] = session.pending;
    assert.deepEqual(requests.map(([path]) => path), ["/api/rules", `/api/permissions/${permission}`]);
    assert.deepEqual(requests[1][1], { option_id: "once", if_question: digest });
    await dialog(one.page).waitFor({ state: "hidden" });
    await until(() => one.page.getByRole("textbox", { name: /message/i }).evaluate((box) => box === document.activeElement), "the composer has the focus");
  });

  test("a_rule_that_is_refused_answers_nothing_and_an_answer_that_is_refused_says_that_the_rule_stands", async ({ daemon, person }) => {
    const session = await asking(daemon, "Refused", run("npm run build"));
    const one = await person();
    one.expect(/status of 409/, /status of 503/);
    await openDialog(one, session);
    await one.page.route("**/api/rules", (route) => route.fulfill({ status: 503, json: { error: { code: "disk_full", message: "disk full: nothing was saved" } } }));
    await untilReady(saveAndAllow(one.page));
    await saveAndAllow(one.page).click();
    await dialog(one.page).getByRole("alert").filter({ hasText: "Disk full: nothing was saved" }).waitFor();
    assert.deepEqual(await resolved(daemon, session), []);
    await one.page.unroute("**/api/rules");
    await one.page.route(/\/api\/permissions\/[^/]+$/, (route) => route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), if_question: "0".repeat(64) }) }));
    await untilReady(saveAndAllow(one.page));
    await saveAndAllow(one.page).click();
    await dialog(one.page).getByRole("alert").filter({ hasText: "The rule is saved. This question was not answered: The question has changed" }).waitFor();
    assert.deepEqual(await resolved(daemon, session), []);
    assert.equal((await typedRules(daemon)).length, 1);
    assert.equal(await save(one.page).count(), 0, "it is not saved twice");
    await dialog(one.page).getByRole("button", { name: "Close" }).last().click();
    await dialog(one.page).waitFor({ state: "hidden" });
  });

  test("a_trial_that_fails_saves_nothing_and_may_be_repeated", async ({ daemon, person }) => {
    const session = await asking(daemon, "Not tried", run("npm run build"));
    const one = await person();
    one.expect(/status of 429/);
    await one.page.route("**/api/rules/test", (route) => route.fulfill({ status: 429, json: { error: { code: "limit_reached", message: "rules are being tried already; try again soon" } } }));
    await openDialog(one, session);
    await dialog(one.page).getByRole("alert").filter({ hasText: "Rules are being tried already; try again soon" }).waitFor();
    await stoodStill(saveAndAllow(one.page));
    for (const button of [save(one.page), saveAndAllow(one.page)]) assert.ok(!await button.isEnabled());
    await one.page.unroute("**/api/rules/test");
    await dialog(one.page).getByRole("button", { name: "Try again" }).click();
    await untilReady(save(one.page));
    await one.page.keyboard.press("Escape");
    await dialog(one.page).waitFor({ state: "hidden" });
    assert.deepEqual(await typedRules(daemon), []);
  });

  test("no_rule_is_offered_where_none_can_be_made_or_before_all_was_seen", async ({ daemon, person }) => {
    const compound = await asking(daemon, "Two commands", run("npm test; rm -rf /"));
    const twice = await asking(daemon, "Two ways to allow", { ...run("npm test"), options: [...options, { optionId: "also", name: "Yes, in the sandbox", kind: "allow_once" }] });
    const long = await asking(daemon, "A long one", run(`npm test ${Array.from({ length: 60 }, (_, at) => `--grep=${"case".repeat(30)}${at}`).join(" ")}`));
    const one = await person();
    for (const session of [compound, twice]) {
      const looked = session === compound ? one.page.waitForResponse(/\/permissions\/[^/]+\/rules$/) : null;
      await (session === compound ? one.enter(`/s/${session.id}`) : one.open(`/s/${session.id}`));
      await looked;
      await untilReady(card(one.page).getByRole("button", { name: session === compound ? /^Allow once/ : /^Yes, in the sandbox/ }));
      await settled(one.page);
      assert.equal(await always(one.page).count(), 0, session.title);
    }
    const looked = one.page.waitForResponse(/\/permissions\/[^/]+\/rules$/);
    await one.open(`/s/${long.id}`);
    await looked;
    const review = card(one.page).getByRole("button", { name: "Review" });
    await review.waitFor();
    assert.equal(await always(one.page).filter({ visible: true }).count(), 0, "nothing before all of it was seen");
    await always(one.page).evaluateAll((all) => all.forEach((each) => each.click()));
    for (let page = 0; page < 40 && await review.count() > 0; page += 1) await review.click({ timeout: 2000 }).catch(() => {});
    assert.equal(await dialog(one.page).count(), 0);
    await untilReady(always(one.page));
    for (const session of [compound, twice, long]) await daemon.api("POST", `/api/sessions/${session.id}/cancel`, {});
  });

  test("the_dialog_is_used_with_the_keyboard_and_no_letter_does_anything", async ({ daemon, person }) => {
    const session = await asking(daemon, "By keyboard", run("npm run docs"));
    const one = await person();
    const requests = sent(one.page);
    const { keyboard } = one.page;
    const focused = () => one.page.evaluate(() => document.activeElement.closest("label, button")?.textContent.trim() ?? document.activeElement.tagName);
    await one.enter(`/s/${session.id}`);
    await untilReady(always(one.page));
    await always(one.page).focus();
    await keyboard.press("Enter");
    await untilReady(save(one.page));
    assert.equal(await focused(), "commands that start with npm run docs", "the first choice has the focus");
    for (const key of ["a", "y", "A", "Y", "Enter", "Control+Shift+Enter", "Control+Enter", "Control+."]) await keyboard.press(key);
    assert.ok(await dialog(one.page).isVisible());
    assert.deepEqual(requests, []);
    const seen = [];
    for (let count = 0; count < 12 && seen.at(-1) !== "Save rule"; count += 1) {
      await keyboard.press("Tab");
      seen.push(await focused());
    }
    assert.equal(seen.at(-1), "Save rule", seen.join(" | "));
    await keyboard.press("Escape");
    await dialog(one.page).waitFor({ state: "hidden" });
    assert.equal(await focused(), "Always allow…", "the focus is where it was");
    assert.deepEqual(requests, []);
    assert.deepEqual(await resolved(daemon, session), []);
    await keyboard.press("Enter");
    await untilReady(saveAndAllow(one.page));
    await saveAndAllow(one.page).focus();
    await keyboard.press("Enter");
    await daemon.untilIdle(session.id);
  });

  test("a_question_that_is_answered_meanwhile_leaves_the_rule_to_be_saved", async ({ daemon, person }) => {
    const session = await asking(daemon, "Answered meanwhile", run("npm run serve"));
    const one = await person();
    const requests = sent(one.page);
    await openDialog(one, session);
    await untilReady(saveAndAllow(one.page));
    await daemon.api("POST", `/api/permissions/${session.pending[0].perm_id}`, { option_id: "no" });
    await dialog(one.page).getByText("This question has been answered. You can still save the rule").waitFor();
    await stoodStill(saveAndAllow(one.page));
    assert.ok(!await saveAndAllow(one.page).isEnabled());
    await untilReady(save(one.page));
    await save(one.page).click();
    await dialog(one.page).waitFor({ state: "hidden" });
    assert.deepEqual(requests.map(([path]) => path), ["/api/rules"]);
  });

  test("the_inbox_makes_a_rule_too", async ({ daemon, person }) => {
    const session = await asking(daemon, "From the inbox", run("npm run inbox"));
    for (const size of ["desktop", "phone"]) {
      const one = await person({ size });
      const requests = sent(one.page);
      await one.enter("/");
      const item = row(one.page, "From the inbox");
      await item.scrollIntoViewIfNeeded();
      await untilReady(item.getByRole("button", { name: /^Allow once/ }));
      await item.getByRole("button", { name: /^More answers/ }).click();
      await item.getByRole("menuitem", { name: /Always allow…/ }).click();
      await untilReady(saveAndAllow(one.page));
      if (size === "desktop") {
        await one.page.keyboard.press("Escape");
        await dialog(one.page).waitFor({ state: "hidden" });
        assert.ok(await item.getByRole("button", { name: /^More answers/ }).evaluate((each) => each === document.activeElement), "the focus is where it was");
        // Navigating away closes a dialog over the page.
        await item.getByRole("link", { name: "Review" }).click();
        await untilReady(always(one.page));
        await always(one.page).click();
        await dialog(one.page).waitFor();
        await one.page.goBack();
        await dialog(one.page).waitFor({ state: "hidden" });
        assert.equal(new URL(one.page.url()).pathname, "/");
        assert.deepEqual(requests, []);
      } else {
        await saveAndAllow(one.page).click();
        await daemon.untilIdle(session.id);
        assert.deepEqual(requests[1], [`/api/permissions/${session.pending[0].perm_id}`, { option_id: "once", if_question: session.pending[0].digest }]);
      }
      await one.leave();
    }
  });

  test("RULE8_settings_try_add_list_and_remove_rules", async ({ daemon, person }) => {
    await asked(daemon, "For the settings", "just build", "once");
    const one = await person();
    const requests = sent(one.page);
    one.expect(/status of 400/);
    await one.enter("/settings/rules");
    const form = one.page.getByRole("form", { name: "Add a rule" });
    const list = one.page.getByRole("list", { name: "Rules" });
    const [tryIt, keep] = ["Try it", "Save rule"].map((name) => form.getByRole("button", { name }));
    assert.ok(!await tryIt.isEnabled() && !await keep.isEnabled(), "nothing is said yet");
    // The daemon's error is shown in its own words.
    await form.getByLabel("The command starts with").fill("sudo make");
    await tryIt.click();
    await form.getByRole("alert").filter({ hasText: "'sudo' runs other commands, so that this would allow any command" }).waitFor();
    assert.ok(!await keep.isEnabled());
    await form.getByLabel("The command starts with").fill("just build");
    await tryIt.click();
    await form.getByText(/Would have allowed 1 of \d+ questions? of the last 30 days\./).waitFor();
    await until(() => keep.isEnabled(), "it may be saved");
    // Only a tried rule can be saved: after an edit it must be tried again.
    await form.getByLabel("The command starts with").fill("just build now");
    await until(async () => !await keep.isEnabled(), "it may not be saved");
    await form.getByLabel("The command starts with").fill("just build");
    assert.ok(!await keep.isEnabled());
    await tryIt.click();
    await until(() => keep.isEnabled(), "it may be saved");
    await keep.click();
    await list.getByText("commands that start with just build").waitFor();
    assert.deepEqual(requests, [["/api/rules", { effect: "allow", argv: ["just", "build"] }]]);
    assert.match(await wordsOf(list.getByRole("listitem").first()), /^Allow commands that start with just build in every session made from a browser \S+/);
    await addMore(one, form);
    await list.getByText("changing files and deleting files outside the session's folder").waitFor();
    await list.getByText("the question Run it").waitFor();
    assert.equal(await list.getByRole("listitem").count(), 3);
    await removeOne(daemon, one, list);
  });

  async function addMore(one, form) {
    await form.getByLabel(/^Answer/).selectOption("deny");
    await form.getByLabel("What the agent asks for").selectOption("tools");
    for (const kind of ["changing files", "deleting files"]) await form.getByRole("checkbox", { name: kind }).check();
    await form.getByLabel("On which files").selectOption("outside");
    await form.getByLabel(/^Agent/).selectOption("asking");
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByText(/Would have denied none of \d+ questions of the last 30 days\./).waitFor();
    await form.getByRole("button", { name: "Save rule" }).click();
    await one.page.getByText("outside the session's folder").first().waitFor();
    await form.getByLabel("What the agent asks for").selectOption("title");
    await form.getByLabel("The question").fill("Run it");
    await form.getByRole("button", { name: "Save rule" }).click();
  }

  async function removeOne(daemon, one, list) {
    const first = list.getByRole("listitem").filter({ hasText: "just build" });
    const confirm = one.page.getByRole("dialog", { name: "Remove this rule?" });
    await first.getByRole("button", { name: "Remove…" }).click();
    await confirm.getByText("Allow commands that start with just build in every session.").waitFor();
    await confirm.getByRole("button", { name: "Cancel" }).click();
    await confirm.waitFor({ state: "hidden" });
    assert.equal((await typedRules(daemon)).length, 2, "not without the confirmation");
    await first.getByRole("button", { name: "Remove…" }).click();
    await confirm.getByRole("button", { name: "Remove rule" }).click();
    await first.waitFor({ state: "detached" });
    assert.equal((await typedRules(daemon)).length, 1);
  }

  test("rules_fit_every_screen_and_everybody", async ({ daemon, person }) => {
    for (const [at, answer] of ["once", "no", "once", "once", "once", "once"].entries()) await asked(daemon, `Earlier ${at + 1}`, `pnpm test --shard=${at + 1}`, answer);
    const session = await asking(daemon, "Looks right", run("pnpm test --shard=7 -- --reporter=dot"));
    const folder = join(daemon.folder, "work");
    const edit = await asking(daemon, "Changes a file", { asked: { title: "Edit", kind: "edit", locations: [{ path: join(folder, "a.py") }],
      content: [{ type: "diff", path: join(folder, "a.py"), oldText: "a\n", newText: "b\n" }] }, options });
    await daemon.api("POST", "/api/rules", { effect: "deny", argv: ["rm"], path: "outside" });
    await daemon.api("POST", "/api/rules", { effect: "ask", tools: ["fetch"], agent: "asking" });
    await daemon.api("POST", "/api/rules", { effect: "allow", tools: ["read", "search"], path: "workspace", folder: "/srv/projects/a/rather/long/path/to/the/shop" });
    await daemon.api("POST", "/api/rules", { title: "Run it, \u202Eand p\u0430y", option_kind: "allow_always" });
    const found = [];
    const note = (where, all) => found.push(...all.map((one) => `${where}: ${one}`));
    for (const size of ["desktop", "phone"]) {
      for (const theme of ["light", "dark"]) {
        const one = await person({ size, theme });
        const look = async (name) => {
          await settled(one.page);
          await one.shot(name);
          note(`${name} ${size} ${theme}`, await violations(one.page, theme === "light" ? everyRule : colourRules));
          note(`${name} ${size}`, await wide(one.page));
          if (size === "desktop") return;
          note(name, await tooSmall(one.page));
          await one.page.setViewportSize(sizes.narrow.viewport);
          note(`${name} 320px`, await wide(one.page));
          if (theme === "light") await one.shot(`${name}-320px`);
          await one.page.setViewportSize(sizes.phone.viewport);
        };
        await one.enter(`/s/${session.id}`);
        if (size === "phone") await card(one.page).getByRole("button", { name: "More options" }).click();
        await untilReady(always(one.page));
        await look("rule-card");
        await always(one.page).click();
        await dialog(one.page).getByRole("radio", { name: "commands that start with pnpm test", exact: true }).check();
        await dialog(one.page).getByText(/Would have allowed 7 of/).waitFor();
        await untilReady(save(one.page));
        await look("rule-dialog");
        await dialog(one.page).getByRole("button", { name: "Show all 7" }).click();
        await dialog(one.page).getByText("“Earlier 1”").scrollIntoViewIfNeeded();
        await look("rule-dialog-all");
        await openSettings(one, look, edit);
        await one.leave();
      }
    }
    assert.deepEqual(found, []);
  });

  async function openSettings(one, look, edit) {
    await one.open(`/s/${edit.id}`);
    if (one.size === "phone") await card(one.page).getByRole("button", { name: "More options" }).click();
    await untilReady(always(one.page));
    await always(one.page).click();
    await untilReady(save(one.page));
    await look("rule-dialog-edit");
    await one.open("/settings/rules");
    await one.page.getByText("the question Run it, U+202E").waitFor();
    await look("rules-list");
    const form = one.page.getByRole("form", { name: "Add a rule" });
    await form.getByLabel("The command starts with").fill("pnpm test");
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByText(/Would have allowed/).waitFor();
    await form.getByRole("button", { name: "Save rule" }).scrollIntoViewIfNeeded();
    await look("rules-tried");
    await form.getByLabel(/^Answer/).selectOption("deny");
    await form.getByLabel("What the agent asks for").selectOption("tools");
    await form.getByLabel(/^Where/).selectOption("folder");
    await form.getByRole("button", { name: "Save rule" }).scrollIntoViewIfNeeded();
    await look("rules-form");
    await one.page.getByRole("button", { name: "Remove…" }).first().click();
    await one.page.getByRole("dialog", { name: "Remove this rule?" }).waitFor();
    await look("rules-remove");
  }
}
