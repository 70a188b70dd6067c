// Questions to a person: visible in every browser, answered once, and never by accident.
import assert from "node:assert/strict";

import { until } from "./harness/wait.mjs";

async function asking(daemon, title, script = "permission 1; say 1") {
  const session = await daemon.session({ agent: "test", title, prompt: script });
  return daemon.until(session.id, (now) => now.pending.length > 0 && now.status === "waiting", "it asks");
}

const allow = (page) => page.getByRole("button", { name: /^Allow once/ }).first();
const deny = (page) => page.getByRole("button", { name: /^Deny(?! and)/ }).first();

// An enabled button.
const untilReady = (button) => until(async () => await button.count() > 0 && await button.isEnabled(), "the answer may be given");

export default function (suite) {
  suite.test("N5_N6_two_browsers_answer_one_permission_and_the_first_counts", async ({ daemon, person }) => {
    const session = await asking(daemon, "Two who answer");
    const [one, two] = [await person(), await person({ size: "phone" })];
    for (const each of [one, two]) {
      each.expect(/status of 410/, /status of 409/);
      await each.enter(`/s/${session.id}`);
      await untilReady(allow(each.page));
    }
    await one.shot("permission");
    await two.shot("permission");
    // The slower one may find the button gone.
    await Promise.all([allow(one.page), deny(two.page)].map((button) => button.click({ timeout: 3000 }).catch(() => {})));
    await daemon.untilIdle(session.id);
    const resolved = await daemon.events(session.id, "permission.resolved");
    assert.equal(resolved.length, 1);
    for (const each of [one, two]) {
      await until(async () => await allow(each.page).count() === 0, "nobody is asked any more");
    }
  });

  suite.test("N6_an_answer_from_elsewhere_is_said_with_its_time", async ({ daemon, person }) => {
    const session = await asking(daemon, "Answered elsewhere");
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilReady(allow(one.page));
    const pending = session.pending[0];
    await daemon.api("POST", `/api/permissions/${pending.perm_id}`, { option_id: pending.options[0].option_id });
    await one.page.getByText(/Answered .* at \d\d:\d\d/).first().waitFor();
  });

  suite.test("permission_buttons_are_inert_when_it_appears_and_take_one_click", async ({ daemon, person }) => {
    const session = await asking(daemon, "Double click");
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await allow(one.page).waitFor();
    let answers = 0;
    one.page.on("request", (request) => { if (/\/api\/permissions\/[^/]+$/.test(request.url())) answers += 1; });
    await untilReady(allow(one.page));
    await allow(one.page).dblclick();
    await daemon.untilIdle(session.id);
    assert.equal(answers, 1);
    assert.equal((await daemon.events(session.id, "permission.resolved")).length, 1);
  });

  suite.test("A31_a_question_survives_the_daemon_and_is_expired_once_its_agent_is_lost", async ({ daemon, person }) => {
    const session = await asking(daemon, "Survives");
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilReady(allow(one.page));
    one.expectDeadDaemon();
    await daemon.restart();
    await one.page.reload();
    await untilReady(allow(one.page));
    await daemon.kill();
    daemon.killAgents();
    await daemon.up();
    await daemon.until(session.id, (now) => now.status === "interrupted_waiting", "its wait is lost");
    await one.page.reload();
    await one.page.getByText(/expired/i).first().waitFor();
    assert.equal(await allow(one.page).count(), 0);
    await one.shot("expired");
  });

  suite.test("inbox_answers_a_permission_without_opening_the_session", async ({ daemon, person }) => {
    const session = await asking(daemon, "From the inbox");
    const one = await person({ size: "phone" });
    await one.enter("/");
    const row = one.page.locator("li, article, section, div").filter({ hasText: "From the inbox" })
      .filter({ has: one.page.getByRole("button", { name: /^Allow once/ }) }).last();
    await row.waitFor();
    await one.shot("inbox-asks");
    const button = row.getByRole("button", { name: /^Allow once/ });
    await untilReady(button);
    await button.click();
    await daemon.untilIdle(session.id);
    assert.equal((await daemon.events(session.id, "permission.resolved")).length, 1);
    assert.ok(new URL(one.page.url()).pathname === "/");
  });
}
