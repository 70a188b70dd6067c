// The page shows exactly the journal's content after any failure of daemon, socket or page: no
// bubble is missing or doubled.
import assert from "node:assert/strict";

import { bare, faultsOfMarkers, log, mounted, readAll, saidOnPage, scrolled, untilSaid } from "./harness/transcript.mjs";
import { until } from "./harness/wait.mjs";

const assistantText = async (daemon, id) => bare((await daemon.transcript(id))
  .filter((one) => one.role === "assistant").map((one) => one.content).join(""));

// Routes the page's WebSocket through here; `bend` may change incoming messages.
async function bendSocket(page, bend) {
  await page.routeWebSocket(/\/ws/, (socket) => {
    const server = socket.connectToServer();
    bend(socket, server);
  });
}

// Splits records that arrived together into single messages: how many are combined depends on the
// machine's load.
function singly(message) {
  const frame = JSON.parse(String(message));
  if (frame.action !== "session.records") return [message];
  return frame.payload.records.map((record) => JSON.stringify({ ...frame, payload: { ...frame.payload, records: [record] } }));
}

export default function (suite) {
  suite.configure({ agents: { paced: { switches: ["pace_ms=25"] } } });

  suite.test("U6_U7_reattach_after_the_daemon_was_killed_in_mid_stream_shows_every_bubble_once", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Killed in mid-stream", prompt: "say 160" });
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:20>");
    one.expectDeadDaemon();
    await daemon.kill();
    await daemon.up();
    await untilSaid(one.page, "<p1:end=160>", 30_000);
    await daemon.untilIdle(session.id);
    const shown = await saidOnPage(one.page);
    assert.deepEqual(faultsOfMarkers(shown, 1, 160), []);
    assert.ok(shown.includes(await assistantText(daemon, session.id)), "the bubbles are the transcript's text");
    assert.equal((await daemon.events(session.id, "run.interrupted")).length, 0);
    await one.shot("reattached");

    const other = await person({ size: "phone" });
    await other.enter(`/s/${session.id}`);
    await untilSaid(other.page, "<p1:end=160>");
    assert.deepEqual((await readAll(other.page)).map((row) => row.key), (await readAll(one.page)).map((row) => row.key),
      "whoever comes later sees the same entries");
  });

  suite.test("U6_N1_whoever_comes_back_to_a_session_finds_it_as_left_and_what_happened_meanwhile_once", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Left and found again", prompt: "say 30" });
    const other = await daemon.session({ agent: "test", title: "Looked at meanwhile", prompt: "say 2" });
    await daemon.untilIdle(session.id);
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:end=30>");
    const go = (id) => one.page.locator(`a[href="/s/${id}"]`).first().click();
    await go(other.id);
    await untilSaid(one.page, "<p1:end=2>");
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 60" });
    await until(async () => (await daemon.transcript(session.id)).some((row) => row.content?.includes("<p2:20>")), "it goes on while nobody looks");
    const asked = [];
    one.page.on("request", (request) => { if (request.url().includes(session.id)) asked.push(new URL(request.url()).search); });
    await go(session.id);
    await untilSaid(one.page, "<p2:end=60>", 30_000);
    await daemon.untilIdle(session.id);
    const shown = await saidOnPage(one.page);
    assert.deepEqual([...faultsOfMarkers(shown, 1, 30), ...faultsOfMarkers(shown, 2, 60)], []);
    assert.ok(!asked.some((query) => query.includes("tail=80")), `nothing is loaded again: ${asked.join(" ")}`);

    // Deleted while it was not shown: the cached page reports it.
    await go(other.id);
    one.expect(new RegExp(`status of 404 .*${session.id}`));
    await one.page.evaluate((id) => { window.link = document.querySelector(`a[href="/s/${id}"]`)?.cloneNode(); document.body.append(window.link); }, session.id);
    await daemon.api("DELETE", `/api/sessions/${session.id}?confirm=true&force=true`);
    await one.page.evaluate(() => window.link.click());
    await one.page.getByText("This session is not there any more").waitFor();
  });

  suite.test("U2_U6_reload_in_mid_stream_shows_the_same_entries", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Reloaded", prompt: "say 80; tool 2; say 40" });
    const one = await person();
    await one.enter(`/s/${session.id}`);
    for (const marker of ["<p1:5>", "<p1:30>", "<p1:60>"]) {
      await untilSaid(one.page, marker);
      await one.page.reload();
    }
    await untilSaid(one.page, "<p1:end=120>", 30_000);
    assert.deepEqual(faultsOfMarkers(await saidOnPage(one.page), 1, 120), []);
  });

  suite.test("N1_U7_a_socket_dropped_at_many_points_loses_and_doubles_nothing", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Dropped sockets" });
    const one = await person();
    one.expect(/WebSocket connection to/);
    let drops = 0;
    await bendSocket(one.page, (socket, server) => {
      let left = 7 + 5 * drops;
      let isClosed = false;
      server.onMessage((message) => {
        for (const one of isClosed ? [] : singly(message)) {
          socket.send(one);
          left -= 1;
          if (left !== 0 || drops >= 12) continue;
          drops += 1;
          isClosed = true;
          void socket.close({ code: 4000 });
          void server.close();
          return;
        }
      });
    });
    await one.enter(`/s/${session.id}`);
    await daemon.until(session.id, (now) => now.connections > 0, "the page follows");
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 120; think 2; tool 3; say 60" });
    await untilSaid(one.page, "<p1:end=180>", 60_000);
    assert.ok(drops >= 6, `${drops} drops`);
    assert.deepEqual(faultsOfMarkers(await saidOnPage(one.page), 1, 180), []);
  });

  suite.test("N1_frames_lost_doubled_and_swapped_change_nothing", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Odd frames" });
    const one = await person();
    let bent = 0;
    // Seeded randomness, not every n-th frame: a period that divides the length of a replay would
    // lose the same frame every time.
    let dice = 20_261_115;
    const falls = (sides) => {
      dice = (Math.imul(dice, 1_664_525) + 1_013_904_223) >>> 0;
      return (dice >>> 8) % sides === 0;
    };
    await bendSocket(one.page, (socket, server) => {
      let kept = null;
      const pass = (message) => {
        if (!String(message).includes('"session.records"')) return socket.send(message);
        if (falls(17)) { bent += 1; return undefined; }
        if (falls(11)) { kept = message; bent += 1; return undefined; }
        socket.send(message);
        if (falls(5)) socket.send(message);
        if (kept) { socket.send(kept); kept = null; }
        return undefined;
      };
      server.onMessage((message) => singly(message).forEach(pass));
    });
    await one.enter(`/s/${session.id}`);
    await daemon.until(session.id, (now) => now.connections > 0, "the page follows");
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "say 150" });
    await untilSaid(one.page, "<p1:end=150>", 60_000);
    assert.ok(bent >= 10, `${bent} frames were bent`);
    assert.deepEqual(faultsOfMarkers(await saidOnPage(one.page), 1, 150), []);
  });

  suite.test("U1_U2_leaving_the_page_stops_nothing_and_coming_back_shows_all", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Left alone", prompt: "say 60" });
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:3>");
    await one.page.goto("about:blank");
    await daemon.untilIdle(session.id);
    await one.open(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:end=60>");
    assert.deepEqual(faultsOfMarkers(await saidOnPage(one.page), 1, 60), []);
  });

  suite.test("N10_two_tabs_and_a_phone_send_at_once_one_bubble_each", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "Three at once" });
    const people = [await person(), await person(), await person({ size: "phone" })];
    for (const one of people) await one.enter(`/s/${session.id}`);
    const texts = ["say 2 ; from the first", "say 2 ; from the second", "say 2 ; from the phone"];
    await Promise.all(people.map(async (one, index) => {
      const box = one.page.getByRole("textbox", { name: /message/i });
      await box.fill(texts[index]);
      await box.press("Control+Enter");
    }));
    await until(async () => (await daemon.events(session.id, "run.completed")).length === 3, "all three are done");
    assert.equal((await daemon.events(session.id, "message.user")).length, 3);
    for (const one of people) {
      await untilSaid(one.page, "<p3:end=");
      const said = await saidOnPage(one.page);
      for (const text of texts) assert.equal(said.split(bare(text)).length - 1, 1, `${text} on ${one.size}`);
    }
  });

  suite.test("N10_a_send_whose_answer_was_lost_is_one_bubble", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "test", title: "Lost answer" });
    const one = await person();
    one.expect(/net::ERR_/);
    await one.enter(`/s/${session.id}`);
    let lost = 0;
    await one.page.route("**/prompt", async (route) => {
      if (lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort("connectionreset");
    });
    const box = one.page.getByRole("textbox", { name: /message/i });
    await box.fill("say 2 ; only once");
    await box.press("Control+Enter");
    await untilSaid(one.page, "<p1:end=");
    await until(() => lost === 1, "an answer was lost");
    assert.equal((await daemon.events(session.id, "message.user")).length, 1);
    assert.equal((await saidOnPage(one.page)).split(bare("say 2 ; only once")).length - 1, 1);
  });

  suite.test("U6_many_characters_arrive_whole", async ({ daemon, person }) => {
    const text = "Grüße 日本語 עברית 👩‍👩‍👧‍👦 café ﷽ \u{1F468}\u200D\u{1F4BB}";
    const session = await daemon.session({ agent: "test", title: "Characters", prompt: `${text}\nsay 1` });
    await daemon.untilIdle(session.id);
    await daemon.api("POST", `/api/sessions/${session.id}/prompt`, { text: "recall" });
    await daemon.untilIdle(session.id);
    const one = await person({ size: "phone", theme: "dark" });
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p2:end=");
    const said = await saidOnPage(one.page);
    for (const word of ["Grüße", "日本語", "עברית", "👩‍👩‍👧‍👦", "café"]) assert.ok(said.includes(word), word);
  });

  suite.test("list_scrolled_up_stays_where_it_is_while_more_arrives", async ({ daemon, person }) => {
    const session = await daemon.session({ agent: "paced", title: "Anchor", prompt: "chunks 120 120; tool 8; chunks 200 120" });
    const one = await person();
    await one.enter(`/s/${session.id}`);
    await untilSaid(one.page, "<p1:100>", 30_000);
    const box = await log(one.page).boundingBox();
    await scrolled(one.page, -900);
    // The entry being read: the one that crosses the upper edge.
    const entries = (await mounted(one.page)).filter((row) => row.text !== "");
    const before = entries.findLast((row) => row.top <= box.y + 10) ?? entries[0];
    const seq = (await daemon.api("GET", `/api/sessions/${session.id}`)).session.seq;
    await daemon.until(session.id, (now) => now.seq > seq + 60, "more has arrived");
    const after = (await mounted(one.page)).find((row) => row.key === before.key);
    assert.ok(after, "the row is still there");
    assert.ok(Math.abs(after.top - before.top) <= 1, `moved by ${after.top - before.top}px`);
  });
}
