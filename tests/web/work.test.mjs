// The workspace and navigation: shells on a desktop and a phone, search, dragging through the past,
// and deleting completely.
import assert from "node:assert/strict";

import { bare, log, readAll, untilSaid } from "./harness/transcript.mjs";
import { settled, until } from "./harness/wait.mjs";

async function withTurns(daemon, title, prompts) {
  const session = await daemon.session({ agent: "test", title, prompt: prompts[0] });
  await daemon.untilIdle(session.id);
  for (const text of prompts.slice(1)) {
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text });
    await daemon.untilIdle(session.id);
  }
  return daemon.sessionOf(session.id);
}


const rowsOf = (page) => page.locator(".xterm-rows").first().innerText();
const times = (text, word) => text.split(word).length - 1;

// The page in the past matches the daemon's state at that record.
async function expectPast(daemon, id, page) {
  await page.getByRole("button", { name: /^Back to live/ }).waitFor();
  await settled(page);
  const now = Number(await page.getByRole("slider").first().getAttribute("aria-valuenow"));
  const at = await daemon.api("GET", `/api/sessions/${id}/at?seq=${now}&tail=200`);
  assert.equal(at.page.as_of, now);
  const said = bare((await readAll(page)).map((row) => row.text).join(" "));
  for (const row of at.page.rows.filter((each) => each.role === "assistant" && each.content)) {
    assert.ok(said.includes(bare(row.content)), `at ${now} it shows ${row.content}`);
  }
  const later = (await daemon.transcript(id)).filter((row) => row.role === "assistant" && row.first_seq > now);
  for (const row of later) assert.ok(!said.includes(bare(row.content)), `at ${now} it hides ${row.content}`);
  return now;
}

// The slider, once its bars are drawn.
async function timelineOf(page) {
  const slider = page.getByRole("slider", { name: "Timeline" });
  await until(async () => await slider.locator("path.bar").first().getAttribute("d") !== "", "the timeline is drawn");
  return slider;
}

export default function (suite) {
  suite.test("shell_on_a_desk_types_prints_and_comes_back_after_a_reload", async ({ daemon, person }) => {
    const session = await withTurns(daemon, "A shell", ["say 1"]);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await one.page.getByRole("tab", { name: /^Shell/ }).click();
    const screen = one.page.locator(".xterm-rows").first();
    await screen.waitFor();
    await one.page.locator(".xterm-helper-textarea").first().focus();
    await until(async () => (await rowsOf(one.page)).trim() !== "", "there is a prompt");
    await one.page.keyboard.type("echo a$((40+2))z");
    await one.page.keyboard.press("Enter");
    await until(async () => (await rowsOf(one.page)).includes("a42z"), "the shell has answered");
    await one.shot("shell");
    await one.page.reload();
    await one.page.getByRole("tab", { name: /^Shell/ }).click();
    await until(async () => (await rowsOf(one.page)).includes("a42z"), "what was printed is there again");
    assert.equal((await daemon.api("GET", `/api/sessions/${session.id}/shells`)).shells.length, 1, "it is the same shell");
  });

  suite.test("shell_in_a_hand_sends_a_line_and_keys_once", async ({ daemon, person }) => {
    const session = await withTurns(daemon, "A shell in a hand", ["say 1"]);
    const one = await person({ size: "phone" });
    await one.enter(`/s/${session.id}`);
    await one.page.getByRole("navigation", { name: "In this session" }).getByRole("button", { name: "Shell" }).click();
    const line = one.page.locator("form").filter({ has: one.page.getByRole("button", { name: "Send" }) }).getByRole("textbox");
    await until(async () => await line.count() > 0 && await line.isEnabled(), "the line takes text");
    await line.fill("echo b$((50+5))y");
    await line.press("Enter");
    await until(async () => (await rowsOf(one.page)).includes("b55y"), "the shell has answered");
    assert.equal(times(await rowsOf(one.page), "echo b"), 1, "no character came twice");
    await line.fill("sleep 60");
    await line.press("Enter");
    await one.page.getByRole("button", { name: /^\^C/ }).click();
    await line.fill("echo c$((60+6))x");
    await line.press("Enter");
    await until(async () => (await rowsOf(one.page)).includes("c66x"), "the interrupt came through");
    await one.shot("shell");
  });

  suite.test("search_finds_over_all_sessions_and_leads_to_the_message", async ({ daemon, person }) => {
    const first = await withTurns(daemon, "Searched first", ["the quokka sleeps\nsay 1"]);
    await withTurns(daemon, "Searched second", ["another quokka wakes\nsay 1"]);
    await until(async () => (await daemon.api("GET", "/api/search?q=quokka")).hits.length >= 2, "the index has it", 20_000);
    const one = await person();
    await one.enter("/search");
    const box = one.page.getByRole("searchbox", { name: "Search all sessions" });
    await box.fill("quokka");
    const hits = one.page.locator("main section").filter({ has: one.page.locator("mark") });
    await until(async () => await hits.count() === 2, "both sessions are found");
    assert.deepEqual([...new Set((await one.page.locator("main mark").allInnerTexts()).map((text) => text.toLowerCase()))], ["quokka"]);
    await one.shot("search");
    await box.fill("quokka sleeps");
    await until(async () => await hits.count() === 1, "two words must both be there");
    await hits.locator("li a").first().click();
    await until(() => one.page.url().includes(first.id), "the session is open");
    await untilSaid(one.page, "the quokka sleeps");
    await one.open("/search?q=nosuchword");
    await one.page.getByText(/Nothing matches/).waitFor();
    await one.shot("search-nothing");
  });

  suite.test("C7_the_past_by_drag_and_keys_is_the_daemons_projection_and_live_goes_on", async ({ daemon, person }) => {
    const session = await withTurns(daemon, "Dragged", ["say 4; sleep 200", "say 2; tool 2; sleep 200", "think 2; say 3; sleep 200", "say 5"]);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p4:end=5>");
    const slider = await timelineOf(one.page);
    // `hover` finds the timeline's current position: a line above it may appear or disappear and
    // move it.
    const { x, y, width } = await slider.boundingBox();
    await slider.hover({ position: { x: width * 0.97, y: 5 } });
    await one.page.mouse.down();
    for (const part of [0.9, 0.75, 0.6, 0.5]) await one.page.mouse.move(x + width * part, y);
    await one.page.mouse.up();
    const dragged = await expectPast(daemon, session.id, one.page);
    assert.ok(dragged > 1 && dragged < session.seq, `event ${dragged}`);
    await one.shot("past-dragged");
    await one.page.locator("h1").first().click();
    await one.page.keyboard.press("[");
    await until(async () => Number(await slider.getAttribute("aria-valuenow")) < dragged, "a turn back");
    await expectPast(daemon, session.id, one.page);
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 6" });
    await daemon.untilIdle(session.id);
    assert.ok(!bare((await readAll(one.page)).map((row) => row.text).join(" ")).includes("p5:"), "the past stays as it is");
    await one.page.getByRole("button", { name: /^Back to live/ }).click();
    await untilSaid(one.page, "<p5:end=6>");
    assert.equal(await one.page.getByRole("button", { name: /^Back to live/ }).count(), 0);
  });

  suite.test("C7_a_step_back_to_the_end_and_back_again_before_the_daemon_has_answered_shows_the_past", async ({ daemon, person }) => {
    const session = await withTurns(daemon, "To and fro", ["say 2", "say 3", "say 4"]);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p3:end=4>");
    const slider = await timelineOf(one.page);
    let asked = 0;
    let letGo = () => {};
    const held = new Promise((done) => { letGo = done; });
    await one.page.route(/[?&]at=/, async (route) => {
      asked += 1;
      await held;
      await route.continue();
    });
    await slider.focus();
    await one.page.keyboard.press("ArrowLeft");
    await until(() => asked > 0, "the daemon is asked");
    await one.page.keyboard.press("End");
    await one.page.keyboard.press("ArrowLeft");
    letGo();
    assert.equal(await expectPast(daemon, session.id, one.page), session.seq - 1);
  });

  suite.test("C7_steps_by_turns_before_the_timeline_is_there_are_made_when_it_is", async ({ daemon, person }) => {
    const session = await withTurns(daemon, "Early", ["say 2", "say 3", "say 4"]);
    const one = await person();
    let asked = 0;
    let letGo = () => {};
    const held = new Promise((done) => { letGo = done; });
    await one.page.route(/\/density\?/, async (route) => {
      asked += 1;
      await held;
      await route.continue();
    });
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p3:end=4>");
    await until(() => asked > 0, "the timeline is asked for");
    await one.page.locator("h1").first().click();
    await one.page.keyboard.press("[");
    await one.page.keyboard.press("[");
    letGo();
    const prompts = await daemon.events(session.id, "message.user");
    assert.equal(await expectPast(daemon, session.id, one.page), prompts.at(-2).seq - 1);
    assert.equal(asked, 1);
  });

  suite.test("U17_a_new_session_is_made_on_the_page_with_the_chosen_agent", async ({ daemon, person }) => {
    const one = await person({ size: "phone" });
    await one.enter("/new");
    await one.page.getByRole("button", { name: /^Agent:/ }).click();
    await one.page.getByRole("menuitem", { name: /^Agent forgetful/ }).or(one.page.getByRole("menuitemradio", { name: /^Agent forgetful/ })).click();
    await one.page.getByRole("textbox", { name: "What should be done" }).fill("say 3");
    await one.shot("new-session");
    await one.page.getByRole("button", { name: /^Start/ }).dblclick();
    await until(() => /^\/s\//.test(new URL(one.page.url()).pathname), "the session's page is there");
    await untilSaid(one.page, "<p1:end=3>");
    const { sessions } = await daemon.api("GET", "/api/sessions");
    const made = sessions.filter((each) => each.agent === "forgetful");
    assert.equal(made.length, 1, "a double click makes one");
    assert.ok(made[0].task_id, "it has a task");
  });

  suite.test("U11_deleting_at_work_needs_the_word_and_ends_at_the_inbox", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "Busy one", prompt: "say 2; hang" });
    await daemon.until(session.id, (now) => now.status === "running", "it runs");
    const one = await person();
    one.expect(/status of 404/);
    await one.enter(`/s/${session.id}`);
    await log(one.page).waitFor();
    await one.page.getByRole("button", { name: "Session menu" }).click();
    await one.page.getByRole("menuitem", { name: /delete/i }).click();
    const dialog = one.page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: /^Delete/ });
    const word = dialog.getByRole("textbox");
    await word.waitFor();
    assert.equal(await confirm.isEnabled(), false, "not before the word is typed");
    await word.fill("busy one");
    await one.shot("delete-at-work");
    await confirm.click();
    await until(async () => (await daemon.ask("GET", `/api/sessions/${session.id}`)).status === 404, "it is deleted", 20_000);
    await until(() => new URL(one.page.url()).pathname === "/", "the inbox is there");
    await settled(one.page);
    assert.equal(await one.page.getByRole("link", { name: "Busy one" }).count(), 0, "no list has it any more");
  });
}
