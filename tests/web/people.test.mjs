// Whole journeys through the page: a first visit, keyboard only, deleting, creating another
// session, viewing the past.
import assert from "node:assert/strict";

import { bare, log, mounted, readAll, untilSaid } from "./harness/transcript.mjs";
import { settled, until } from "./harness/wait.mjs";

export default function (suite) {
  suite.test("newcomer_comes_by_the_launch_address_starts_the_demo_and_sees_it_answer", async ({ daemon, person }) => {
    const one = await person();
    await one.enter("/");
    await one.shot("newcomer-1");
    if (await one.page.getByRole("textbox").count() === 0) {
      await one.page.getByRole("link", { name: /new (session|task)/i }).or(one.page.getByRole("button", { name: /new (session|task)/i })).first().click();
    }
    const box = one.page.getByRole("textbox", { name: /message|prompt|what|task|do/i }).first();
    await box.fill("hello");
    await box.press("Control+Enter");
    await until(() => /^\/s\//.test(new URL(one.page.url()).pathname), "the session's page is there");
    await until(async () => (await mounted(one.page)).length >= 2, "the agent has answered", 20_000);
    await one.shot("newcomer-2");
    assert.equal((await daemon.api("GET", "/api/sessions")).sessions.length, 1);
  });

  suite.test("U17_a_new_session_stands_beside_the_others", async ({ daemon, person }) => {
    const before = (await daemon.api("GET", "/api/sessions")).sessions.map((each) => each.id);
    const first = await daemon.session({ agent: "test", title: "Was here before" });
    const one = await person();
    await one.enter("/new");
    const box = one.page.getByRole("textbox", { name: /message|prompt|what|task|do/i }).first();
    await box.fill("hello again");
    await box.press("Control+Enter");
    await until(() => /^\/s\//.test(new URL(one.page.url()).pathname), "the session's page is there");
    const after = (await daemon.api("GET", "/api/sessions")).sessions.map((each) => each.id);
    assert.equal(after.length, before.length + 2);
    for (const id of [...before, first.id]) assert.ok(after.includes(id));
    await one.page.getByText("Was here before").first().waitFor();
  });

  suite.test("U11_deletion_needs_a_confirmation_and_other_tabs_say_it", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "To be deleted", prompt: "say 2" });
    await daemon.untilIdle(session.id);
    const [one, other] = [await person(), await person()];
    await other.enter(`/s/${session.id}`);
    await one.enter(`/s/${session.id}`);
    for (const each of [one, other]) each.expect(/status of 404/, /status of 503/, /status of 409/);
    await log(one.page).waitFor();
    await one.page.getByRole("button", { name: "Session menu" }).click();
    await one.page.getByRole("menuitem", { name: /delete/i }).click();
    const dialog = one.page.getByRole("dialog");
    await dialog.waitFor();
    await one.shot("delete-dialog");
    await one.page.keyboard.press("Escape");
    await until(async () => await dialog.isHidden(), "the dialog is gone");
    assert.ok(await daemon.sessionOf(session.id), "nothing was deleted");
    await one.page.getByRole("button", { name: "Session menu" }).click();
    await one.page.getByRole("menuitem", { name: /delete/i }).click();
    const confirm = dialog.getByRole("button", { name: /^Delete/ });
    const word = dialog.getByRole("textbox");
    if (await word.count() > 0 && !await confirm.isEnabled()) await word.fill("delete");
    await confirm.click();
    await until(async () => (await daemon.ask("GET", `/api/sessions/${session.id}`)).status === 404, "it is deleted");
    await other.page.getByText(/“To be deleted” was deleted from a browser, \w+day, /).waitFor();
    await other.shot("state-deleted");
    await other.page.reload();
    await other.page.getByText(/“To be deleted” was deleted from a browser, \w+day, /).waitFor();
  });

  suite.test("L23_an_agent_is_probed_from_the_page_and_the_report_stays", async ({ daemon, person }) => {
    const one = await person();
    await one.enter("/settings/agents");
    const item = one.page.getByRole("listitem").filter({ hasText: "Agent test" });
    await item.getByRole("button", { name: "Probe" }).click();
    await item.getByRole("row", { name: /^permission yes/ }).waitFor();
    await item.getByRole("button", { name: "Probe again" }).waitFor({ timeout: 60_000 });
    await item.getByText(/comes back by session\/resume/).waitFor();
    await one.shot("agent-probe");
    const two = await person({ size: "phone", theme: "dark" });
    await two.enter("/settings/agents");
    await two.page.getByText(/comes back by session\/resume/).scrollIntoViewIfNeeded();
    await two.shot("agent-probe");
    await one.page.reload();
    await item.getByText(/comes back by session\/resume/).waitFor();
    assert.equal((await daemon.api("GET", "/api/agents/test/probe")).report.rung, "resume");
  });

  suite.test("keyboard_alone_finds_opens_writes_and_answers", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "By keys alone", prompt: "say 1" });
    await daemon.untilIdle(session.id);
    const one = await person();
    await one.enter("/");
    const { keyboard } = one.page;
    await one.page.getByText("By keys alone").first().waitFor();
    await keyboard.press("Tab");
    assert.ok(await one.page.evaluate(() => document.activeElement !== document.body), "Tab goes somewhere");
    await keyboard.press("Control+k");
    await one.page.getByRole("dialog").waitFor();
    await keyboard.type("By keys");
    await one.page.getByRole("dialog").getByText("By keys alone").first().waitFor();
    await one.shot("palette");
    await keyboard.press("Enter");
    await until(() => one.page.url().includes(session.id), "the session is open");
    await log(one.page).waitFor();
    const box = one.page.getByRole("textbox", { name: /message/i });
    for (let count = 0; count < 60 && !await box.evaluate((each) => each === document.activeElement); count += 1) await keyboard.press("Tab");
    assert.ok(await box.evaluate((each) => each === document.activeElement), "Tab reaches the composer");
    await keyboard.type("permission 1; say 1");
    await keyboard.press("Control+Enter");
    const allow = one.page.getByRole("button", { name: /^Allow once/ });
    await allow.waitFor();
    await until(() => allow.isEnabled(), "it may be answered");
    for (let count = 0; count < 60 && !await allow.evaluate((each) => each === document.activeElement); count += 1) await keyboard.press("Shift+Tab");
    await keyboard.press("Enter");
    await daemon.untilIdle(session.id);
    assert.equal((await daemon.events(session.id, "permission.resolved")).length, 1);
    await keyboard.press("Escape");
    await one.page.locator("h1").first().click();
    await keyboard.press("?");
    await one.page.getByRole("dialog").waitFor();
    await one.shot("keys");
    await keyboard.press("Escape");
    await keyboard.press("g");
    await keyboard.press("i");
    await until(() => new URL(one.page.url()).pathname === "/", "g i leads to the inbox");
  });

  suite.test("C7_time_travel_shows_what_the_projection_at_that_record_is", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "The past", prompt: "say 4" });
    await daemon.untilIdle(session.id);
    for (const text of ["say 2; tool 2", "think 2; say 3", "say 5"]) {
      await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text });
      await daemon.untilIdle(session.id);
    }
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p4:end=5>");
    await one.page.locator("h1").first().click();
    for (let back = 0; back < 2; back += 1) {
      await one.page.keyboard.press("[");
      await one.page.getByRole("button", { name: /^Back to live/ }).waitFor();
      await settled(one.page);
    }
    await one.shot("past");
    const slider = one.page.getByRole("slider").first();
    const now = Number(await slider.getAttribute("aria-valuenow"));
    assert.ok(now > 0 && now < (await daemon.sessionOf(session.id)).seq, `event ${now}`);
    const at = await daemon.api("GET", `/api/sessions/${session.id}/at?seq=${now}&tail=200`);
    const said = bare((await readAll(one.page)).map((row) => row.text).join(" "));
    const past = at.page.rows.filter((row) => row.role === "assistant").map((row) => bare(row.content ?? ""));
    const last = past.filter((text) => text !== "").at(-1);
    if (last) assert.ok(said.includes(last), `shows ${last}`);
    const all = (await daemon.transcript(session.id)).filter((row) => row.role === "assistant" && row.first_seq > now);
    for (const row of all) assert.ok(!said.includes(bare(row.content)), `hides ${row.content}`);
    await one.page.getByRole("button", { name: /^Back to live/ }).click();
    await untilSaid(one.page, "<p4:end=5>");
  });

  suite.test("daemon_down_is_said_calmly_and_goes_by_itself", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "Daemon goes", prompt: "say 2" });
    await daemon.untilIdle(session.id);
    const one = await person({ size: "phone" });
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:end=2>");
    await settled(one.page);
    one.expectDeadDaemon();
    const words = "reconnecting|cannot be reached|offline";
    const said = one.page.getByText(new RegExp(words, "i")).filter({ visible: true });
    await one.page.evaluate((pattern) => {
      window.saidOfIt = 0;
      const look = () => { if (new RegExp(pattern, "i").test(document.body.innerText)) window.saidOfIt += 1; };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    }, words);
    await daemon.kill();
    await daemon.up();
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 1" });
    await untilSaid(one.page, "<p2:end=1>", 30_000);
    assert.equal(await one.page.evaluate(() => window.saidOfIt), 0, "nothing is said of a short drop");
    await daemon.kill();
    await said.first().waitFor();
    await one.shot("daemon-down");
    await daemon.up();
    await until(async () => await said.count() === 0, "it is back", 15_000);
  });
}
