// What opening a session does: one request loads everything, an agent lost during work is resumed
// once, and everything else waits for a click.
import assert from "node:assert/strict";

import { log, untilSaid } from "./harness/transcript.mjs";
import { settled, until } from "./harness/wait.mjs";

const resumeButton = (page) => page.getByRole("button", { name: /^Resume session/ });

// Counts requests by method and path from now on.
function counted(page) {
  const seen = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.startsWith("/api/")) seen.push(`${request.method()} ${url.pathname}`);
  });
  return { of: (pattern) => seen.filter((one) => pattern.test(one)), all: seen };
}

async function withTurn(daemon, body) {
  const session = await daemon.session({ agent: "test", prompt: "say 3", ...body });
  return daemon.untilIdle(session.id);
}

// Kills the daemon and all processes of its agents, then restarts the daemon.
async function powerCut(daemon) {
  await daemon.kill();
  daemon.killAgents();
  await daemon.up();
}

export default function (suite) {
  suite.configure({ agents: { slow: { switches: ["slow_start=2500"] }, broken: { switches: ["resume_error", "load_error"] } } });

  suite.test("L31_the_first_load_brings_session_task_and_messages_in_one_request", async ({ daemon, person }) => {
    const { task } = await daemon.api("POST", "/api/tasks", { title: "The task of it" });
    const session = await withTurn(daemon, { title: "One request", task_id: task.id });
    const one = await person();
    await one.enter("/settings");
    const requests = counted(one.page);
    await one.open(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:end=3>");
    await one.page.getByText("The task of it").first().waitFor();
    assert.equal(requests.of(new RegExp(`GET /api/sessions/${session.id}/page$`)).length, 1);
    assert.deepEqual(requests.of(new RegExp(`GET /api/sessions/${session.id}(/rows|/transcript|/history|/status)?$`)), []);
    assert.deepEqual(requests.of(/GET \/api\/tasks\/./), []);
    await one.shot("session");
  });

  suite.test("K2_K6_K7_opening_a_session_that_lost_its_agent_resumes_it_once_and_prompts_nothing", async ({ daemon, person }) => {
    const session = await withTurn(daemon, { title: "Was active" });
    await powerCut(daemon);
    const lost = await daemon.sessionOf(session.id);
    const asked = (await daemon.events(session.id, "resume.requested")).length;
    assert.ok(lost.needs_resume && lost.is_resumable && !lost.is_agent_running);
    const one = await person();
    await one.enter("/");
    assert.equal((await daemon.sessionOf(session.id)).is_agent_running, false, "the list starts nothing");
    const requests = counted(one.page);
    await one.open(`/s/${session.id}`);
    await daemon.until(session.id, (now) => now.is_agent_running && now.state === "WAITING_FOR_INPUT", "the agent is back");
    await settled(one.page);
    assert.equal(requests.of(/POST .*\/resume$/).length, 1);
    assert.equal((await daemon.events(session.id, "resume.requested")).length, asked + 1);
    assert.equal((await daemon.events(session.id, "message.user")).length, 1, "nothing was said to it");
    await one.page.reload();
    await untilSaid(one.page, "<p1:end=3>");
    assert.equal((await daemon.events(session.id, "resume.requested")).length, asked + 1);
  });

  suite.test("L32_L38_a_stopped_session_waits_for_the_button_resume_session", async ({ daemon, person }) => {
    const session = await withTurn(daemon, { title: "Stopped by hand" });
    await daemon.api("POST", `/api/sessions/${session.id}/stop`);
    await daemon.until(session.id, (now) => !now.is_agent_running, "it is stopped");
    const one = await person();
    await one.enter("/");
    const requests = counted(one.page);
    await one.open(`/s/${session.id}`);
    await resumeButton(one.page).first().waitFor();
    await one.shot("agent-not-running");
    await settled(one.page);
    assert.deepEqual(requests.of(/POST .*\/resume$/), [], "opening it starts nothing");
    await resumeButton(one.page).first().click();
    await daemon.until(session.id, (now) => now.is_agent_running, "the agent is back");
    await until(async () => await resumeButton(one.page).count() === 0, "the button is gone");
  });

  suite.test("L12_L32_L38_an_agent_that_cannot_resume_is_said_and_a_new_session_offered", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "forgetful", title: "Cannot resume", prompt: "say 2", inject: "off" });
    await daemon.untilIdle(session.id);
    await powerCut(daemon);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await one.page.getByText(/cannot resume/i).first().waitFor();
    await one.shot("cannot-resume");
    const create = one.page.getByRole("button", { name: "Create new session" }).or(one.page.getByRole("link", { name: "Create new session" }));
    await create.first().click();
    await until(() => new URL(one.page.url()).pathname === "/new", "the page for a new session is there");
    await one.page.goBack();
    await untilSaid(one.page, "<p1:end=2>");
  });

  suite.test("L37_a_resume_that_fails_leaves_files_shell_and_changes", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "broken", title: "Resume fails", prompt: "say 2", inject: "off" });
    await daemon.untilIdle(session.id);
    await powerCut(daemon);
    const one = await person();
    one.expect(/status of 409/, /status of 4\d\d/, /status of 50\d/);
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:end=2>");
    await one.page.getByRole("tab", { name: /^Files/ }).click();
    await one.page.getByRole("tabpanel").waitFor();
    await daemon.api("GET", `/api/sessions/${session.id}/fs/list?path=.`);
    await one.shot("resume-failed");
    assert.equal(await one.page.getByRole("tab", { name: /^Shell/ }).isEnabled(), true);
  });

  suite.test("L33_the_page_follows_the_executor_starting_ready_and_error", async ({ daemon, person }) => {
    const session = await withTurn(daemon, { title: "Executor states" });
    const cases = [
      { change: { executor_status: "starting", state: "STARTING", is_agent_running: false }, says: /Preparing/i, chip: /Starting/ },
      { change: { executor_status: "error", state: "ERROR", is_agent_running: false, error_message: "agentctl ended with code 3" },
        says: /agentctl ended with code 3/, chip: /Executor error/, button: /Restart (executor|workspace)/ },
      { change: {}, says: /p1:end=3/, chip: /Ready/ },
    ];
    for (const { change, says, chip, button } of cases) {
      const one = await person();
      await one.page.routeWebSocket(/\/ws/, () => {});
      await one.page.route(/\/page\?/, async (route) => {
        const answer = await route.fetch();
        const body = await answer.json();
        await route.fulfill({ response: answer, json: { ...body, session: { ...body.session, ...change } } });
      });
      await one.enter(`/s/${session.id}`);
      await one.page.getByText(says).first().waitFor();
      await one.page.getByText(chip).first().waitFor();
      await one.page.getByRole("tab", { name: /^Files/ }).click();
      if (change.executor_status === "starting") {
        await one.page.getByRole("tabpanel").getByText(/Preparing/i).waitFor();
      } else if (button) {
        await one.page.getByRole("button", { name: button }).first().waitFor();
      }
      await one.shot(`executor-${change.executor_status ?? "ready"}`);
      await one.leave();
    }
  });

  suite.test("K13_C1_a_message_to_a_session_without_its_agent_brings_it_back_first", async ({ daemon, person }) => {
    const session = await withTurn(daemon, { title: "Just write" });
    await daemon.api("POST", `/api/sessions/${session.id}/stop`);
    await daemon.until(session.id, (now) => !now.is_agent_running, "it is stopped");
    const one = await person({ size: "phone" });
    await one.enter(`/s/${session.id}`);
    const box = one.page.getByRole("textbox", { name: /message/i });
    await box.fill("say 2 ; after the stop");
    await box.press("Control+Enter");
    await untilSaid(one.page, "<p2:end=", 30_000);
  });

  suite.test("U18_switching_panels_keeps_the_connection_and_closing_the_page_ends_it", async ({ daemon, person }) => {
    const session = await withTurn(daemon, { title: "Panels" });
    const one = await person();
    let sockets = 0;
    let closed = 0;
    one.page.on("websocket", (socket) => {
      if (!/\/ws\?/.test(socket.url())) return;
      sockets += 1;
      socket.on("close", () => { closed += 1; });
    });
    await one.enter(`/s/${session.id}`);
    await daemon.until(session.id, (now) => now.connections === 1, "one connection");
    for (const name of [/^Files/, /^Events/, /^Details/, /^Changes/]) await one.page.getByRole("tab", { name }).click();
    await one.page.evaluate(() => history.pushState(null, "", "/tasks"));
    await one.page.goBack();
    await log(one.page).waitFor();
    assert.deepEqual([sockets, closed], [1, 0]);
    await one.leave();
    await daemon.until(session.id, (now) => now.connections === 0, "none");
    assert.ok((await daemon.sessionOf(session.id)).is_agent_running, "the session goes on");
  });
}
