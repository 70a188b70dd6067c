// The daemon's /acp: the same core over a WebSocket, with the rights of the token that opened it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { until } from "../web/harness/wait.mjs";

const allow = (question) => question.options.find((option) => option.kind === "allow_once").optionId;

export default function (test) {
  test("U9_acp_over_a_socket_creates_asks_and_loads", async ({ daemon, work, socketEditor }) => {
    const one = await socketEditor({ answer: allow });
    const { sessionId } = await one.create(work);
    assert.equal((await one.prompt(sessionId, "say 2; permission 1; tool 1")).stopReason, "end_turn");
    const live = one.text(sessionId);
    one.close();
    const two = await socketEditor();
    await two.load(sessionId, work);
    assert.equal(two.text(sessionId), live);
    assert.deepEqual((await two.agent.request("session/list", {})).sessions.map((row) => row.sessionId), [sessionId]);
    await two.agent.request("session/close", { sessionId });
    assert.equal((await daemon.sessionOf(sessionId)).active, true, "closing stops no agent");
  });

  test("N5_a_socket_and_stdio_share_a_session", async ({ work, editor, socketEditor }) => {
    const stdio = await editor({ answer: allow });
    const { sessionId } = await stdio.create(work);
    const socket = await socketEditor();
    await socket.agent.request("session/resume", { sessionId, cwd: work, mcpServers: [] });
    assert.equal((await socket.prompt(sessionId, "permission 1; say 3")).stopReason, "end_turn");
    await stdio.untilText(sessionId, "<p1:end=");
    assert.equal(stdio.text(sessionId), socket.text(sessionId));
    assert.equal(socket.wire.lines.filter((line) => line.method === "$/cancel_request").length, 1);
  });

  test("L24_an_editor_on_a_socket_lends_its_files_too", async ({ work, socketEditor }) => {
    const path = join(work, "open.txt");
    writeFileSync(path, "as saved");
    const one = await socketEditor({ answer: allow, files: new Map([[path, "as typed"]]) });
    const { sessionId } = await one.create(work);
    await one.prompt(sessionId, `permission 1; call fs/read_text_file ${JSON.stringify({ path })}`);
    assert.match(one.text(sessionId), /as typed/);
  });

  test("STREAM1_a_long_history_over_a_socket_is_whole", async ({ daemon, work, socketEditor }) => {
    const { id } = await daemon.session({ agent: "test", cwd: work, prompt: "chunks 3000 700" });
    await daemon.untilIdle(id);
    const one = await socketEditor();
    await one.load(id, work);
    assert.equal([...one.text(id).matchAll(/<p1:(\d+)>/g)].length, 3000);
  });

  test("TOK2_TOK6_a_socket_has_the_rights_of_its_token_and_ends_with_it", async ({ daemon, work, socketEditor }) => {
    assert.equal((await daemon.askOpenly("GET", "/acp")).status, 401);
    const { token, text } = await daemon.api("POST", "/api/tokens", { name: "looker", scopes: ["observe"] });
    const socket = new WebSocket(`ws://127.0.0.1:${daemon.port}/acp`, { headers: { Authorization: `Bearer ${text}` } });
    const got = [];
    let closed = false;
    socket.onmessage = ({ data }) => got.push(JSON.parse(data));
    socket.onclose = () => { closed = true; };
    await until(() => socket.readyState === WebSocket.OPEN, "it is open");
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/list", params: {} }));
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd: work, mcpServers: [] } }));
    await until(() => got.length === 2, "both are answered");
    assert.ok(got.find((message) => message.id === 1).result);
    assert.equal(got.find((message) => message.id === 2).error.data.code, "denied");
    await daemon.api("DELETE", `/api/tokens/${token.id}`);
    await until(() => closed, "the socket ends with its token", 10_000);
    assert.equal((await daemon.api("GET", "/api/sessions")).sessions.length, 0);
  });
}
