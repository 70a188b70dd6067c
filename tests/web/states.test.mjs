// Every session state, produced by a real daemon: its chip, its explanation, its buttons, and
// whether text can be entered. Pictures: build/web-shots/state-*.
import assert from "node:assert/strict";

import { settled, until } from "./harness/wait.mjs";

const resume = "Resume session";
const fresh = "Start fresh with history";
const idle = (daemon, session) => daemon.untilIdle(session.id);
const asks = (daemon, session) => daemon.until(session.id, (now) => now.pending.length > 0, "it asks");
const stopped = async (daemon, session) => {
  await idle(daemon, session);
  await daemon.api("POST", `/api/sessions/${session.id}/stop`);
  await daemon.until(session.id, (now) => !now.is_agent_running, "it is stopped");
};

// `make`: how to create the session; `then`: what to wait for; `lost`: its agent is lost with the
// daemon's machine.
const states = {
  created: { make: { agent: "test" }, chip: "Ready", composer: true },
  agent_starting: { make: { agent: "slow", prompt: "say 1" }, chip: "Starting agent", says: /is starting|being brought/, buttons: ["Cancel"], composer: true },
  running: { make: { agent: "test", prompt: "say 2; hang" }, chip: /Running \d/, then: (daemon, session) => daemon.until(session.id, (now) => now.status === "running", "it runs"), buttons: [/^Stop/], composer: true },
  needs_answer: { make: { agent: "test", prompt: "permission 1" }, chip: "Needs your answer", then: asks, buttons: [/^Allow once/, /^Deny/], composer: true },
  ready: { make: { agent: "test", prompt: "say 2" }, chip: "Ready", then: idle, composer: true, none: [resume] },
  can_resume: { make: { agent: "test", prompt: "say 2" }, chip: "Agent not running", then: stopped, says: /can restore this conversation itself/, buttons: [resume, fresh], composer: true },
  cannot_resume: { make: { agent: "forgetful", prompt: "say 2" }, chip: "Agent not running", then: stopped, says: /cannot resume/, buttons: [fresh, "Preview history", "New session"], none: [resume], composer: true },
  not_resumable: { make: { agent: "forgetful", prompt: "say 2", inject: "off" }, chip: "Agent not running", then: idle, lost: true, says: /cannot resume/, buttons: ["Create new session"], none: [resume], composer: false },
  expired_wait: { make: { agent: "test", prompt: "permission 1", wait_ms: 400 }, then: (daemon, session) => daemon.until(session.id, (now) => now.status === "interrupted_waiting", "its wait has expired"), says: /expired|not answered in time/i, none: [/^Allow once/] },
  interrupted: { make: { agent: "test", prompt: "say 2; hang" }, then: (daemon, session) => daemon.until(session.id, (now) => now.status === "running", "it runs"), lost: true, says: /interrupted/i },
  failed: { make: { agent: "dying", prompt: "say 1" }, chip: "Failed", buttons: ["Try again", "New session"], none: [fresh], then: (daemon, session) => daemon.until(session.id, (now) => ["FAILED", "ERROR"].includes(now.state), "it has failed"), composer: true },
  archived: { make: { agent: "test", prompt: "say 2" }, chip: "Archived", then: async (daemon, session) => { await stopped(daemon, session); await daemon.api("POST", `/api/sessions/${session.id}/archive`); }, buttons: ["Unarchive"], composer: false },
};

const button = (page, name) => page.getByRole("button", { name }).or(page.getByRole("link", { name }));

async function expectState(page, name, state) {
  const problems = [];
  const wants = async (what, condition) => {
    await until(condition, what, 6000).catch(() => problems.push(`${name}: ${what}`));
  };
  const heading = page.locator("header").filter({ has: page.locator("h1") }).first();
  if (state.chip) await wants(`the chip says ${state.chip}`, async () => await heading.getByText(state.chip).filter({ visible: true }).count() > 0);
  if (state.says) await wants(`the page says ${state.says}`, async () => await page.locator("main").getByText(state.says).filter({ visible: true }).count() > 0);
  for (const one of state.buttons ?? []) await wants(`there is ${one}`, async () => await button(page, one).filter({ visible: true }).count() > 0);
  for (const one of state.none ?? []) await wants(`there is no ${one}`, async () => await button(page, one).filter({ visible: true }).count() === 0);
  if (typeof state.composer === "boolean") {
    const box = page.getByRole("textbox", { name: /message/i });
    await wants(`one can ${state.composer ? "" : "not "}write`, async () => (await box.count() > 0 && await box.isEnabled() && await box.isEditable()) === state.composer);
  }
  return problems;
}

export default function (suite) {
  suite.configure({ agents: { slow: { switches: ["slow_start=20000"] }, dying: { switches: ["exit_at_start=3"] },
    broken: { switches: ["resume_error", "load_error"] } } });

  suite.test("states_a_first_run_offers_the_composer_and_the_agents", async ({ person }) => {
    const one = await person();
    await one.enter("/");
    await one.page.getByRole("textbox", { name: "What should be done" }).waitFor();
    await one.page.getByText("Agent forgetful").filter({ visible: true }).first().waitFor();
    await settled(one.page);
    await one.shot("state-first-run");
    await one.open("/tasks");
    await settled(one.page);
    await one.shot("state-no-tasks");
  });

  suite.test("U8_states_a_session_of_another_daemon_says_whose_it_is", async ({ daemon, person }) => {
    const mine = await daemon.session({ agent: "test", title: "Mine", prompt: "say 1" });
    const theirs = await daemon.session({ agent: "test", title: "Theirs", prompt: "say 1" });
    await Promise.all([idle(daemon, mine), idle(daemon, theirs)]);
    const one = await person();
    const named = (session) => (session.id === theirs.id ? { ...session, node: "fe02" } : session);
    await one.page.routeWebSocket(/\/ws/, () => {});
    await one.page.route(/\/api\/sessions\?|\/api\/sessions$|\/page\?/, async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      const json = body.sessions ? { ...body, sessions: body.sessions.map(named) } : { ...body, session: named(body.session) };
      await route.fulfill({ response: answer, json });
    });
    await one.enter("/");
    const row = (title) => one.page.locator("main li").filter({ hasText: title });
    await row("Theirs").getByText(/, on fe02$/).waitFor();
    assert.equal(await row("Mine").getByText(/\bon\b/).count(), 0);
    await one.open("/tasks");
    await row("Theirs").getByText("on fe02", { exact: true }).waitFor();
    await one.open(`/s/${theirs.id}`);
    await one.page.getByRole("tab", { name: /^Details/ }).click();
    await one.page.getByRole("tabpanel").getByText("fe02").waitFor();
  });

  suite.test("L33_L38_states_each_has_its_chip_words_and_buttons", async ({ daemon, person }) => {
    const made = {};
    const make = async (isLost) => {
      const names = Object.keys(states).filter((name) => (states[name].lost === true) === isLost);
      for (const name of names) made[name] = await daemon.session({ title: `State ${name}`, ...states[name].make });
      await Promise.all(names.map((name) => states[name].then?.(daemon, made[name])));
    };
    await make(true);
    await daemon.kill();
    daemon.killAgents();
    await daemon.up();
    await make(false);
    const one = await person();
    await one.enter("/");
    const problems = [];
    for (const [name, state] of Object.entries(states)) {
      await one.open(`/s/${made[name].id}`);
      await settled(one.page);
      problems.push(...await expectState(one.page, name, state));
      await one.shot(`state-${name}`);
    }
    assert.deepEqual(problems, []);
    await one.open("/");
    await settled(one.page);
    await one.shot("state-inbox-of-all");
  });

  suite.test("L37_states_a_resume_that_failed_says_why_and_leaves_the_rest", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "broken", title: "Resume fails", prompt: "say 2", inject: "off" });
    await stopped(daemon, session);
    const one = await person();
    one.expect(/status of 409 .*\/resume/);
    await one.enter(`/s/${session.id}`);
    await button(one.page, resume).first().click();
    await daemon.until(session.id, async () => (await daemon.events(session.id, "resume.failed")).length > 0, "the resume failed");
    await one.page.locator("main").getByText(/could not|cannot|failed|not be brought back/i).filter({ visible: true }).first().waitFor();
    await one.shot("state-resume-failed");
    await one.page.getByRole("tab", { name: /^Files/ }).click();
    await until(async () => await one.page.getByRole("tabpanel").count() > 0, "the files are there");
    await one.page.getByText("say 2").first().waitFor();
  });

  suite.test("states_a_session_that_is_not_there_says_so", async ({ person }) => {
    const one = await person({ size: "phone" });
    one.expect(/status of 404/);
    await one.enter("/s/sess_01k00000000000000000000000");
    await one.page.getByText("This session is not there any more").waitFor();
    await one.shot("state-gone");
    await one.page.getByRole("link", { name: "Back to the inbox" }).click();
    await until(() => new URL(one.page.url()).pathname === "/", "the inbox is there");
  });

  suite.test("states_K30_the_preview_shows_the_very_text_that_goes_along", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "forgetful", title: "Forgets", prompt: "say 2" });
    await stopped(daemon, session);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await one.page.getByRole("button", { name: "Preview history" }).click();
    const shown = one.page.getByRole("dialog").locator("pre");
    await shown.waitFor();
    const { text } = await daemon.api("GET", `/api/sessions/${session.id}/resume-context`);
    assert.equal(await shown.textContent(), text);
    assert.match(text, /say 2/);
    await one.shot("dialog-history-preview");
  });
}
