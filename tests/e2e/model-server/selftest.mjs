// Tests the scripted model: each format streams what the scenario defines, and the log records the
// requests.
//
//   node tests/e2e/model-server/selftest.mjs [--list]
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { checkScenario } from "./scenario.mjs";
import { ModelServer } from "./server.mjs";

const scenario = { begins: "=== NOW ===", rules: [
  { when: "TOOL", steps: [{ tool: "shell", command: "ls" }, { text: "listed" }] },
  { when: "HELD", steps: [{ text: "first ", hold: "h", then: "second" }] },
  { when: "SLOW", steps: [{ text: "one two three", word_ms: 1 }] },
  { when: "BROKEN", steps: [{ status: 500 }] },
  { when: "LIMIT", steps: [{ status: 429, reset_s: 7 }] },
  { when: "ECHO", steps: [{ echo: "history" }] },
  { when: "RECALL", steps: [{ recall: "W-[0-9]+" }] },
  { steps: [{ text: "else" }] }] };

const schema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

// The request of each format, and where in its stream text and calls are.
const forms = {
  chat: { path: "/v1/chat/completions", body: (said) => ({ model: "m", stream: true, messages: said.map(([role, content]) => ({ role, content })),
    tools: [{ type: "function", function: { name: "bash", parameters: schema } }] }),
  text: (one) => one.choices?.[0]?.delta?.content ?? "", call: (one) => one.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments },
  responses: { path: "/v1/responses", body: (said) => ({ model: "m", stream: true, tools: [{ type: "function", name: "bash", parameters: schema }],
    input: said.map(([role, text]) => role === "tool" ? { type: "function_call_output", call_id: "c", output: text }
      : { type: "message", role, content: [{ type: "input_text", text }] }) }),
  text: (one) => one.type === "response.output_text.delta" ? one.delta : "",
  call: (one) => one.type === "response.function_call_arguments.done" ? one.arguments : undefined },
  messages: { path: "/v1/messages", body: (said) => ({ model: "m", stream: true, tools: [{ name: "Bash", input_schema: schema }],
    messages: said.map(([role, text]) => ({ role: role === "tool" ? "user" : role,
      content: role === "tool" ? [{ type: "tool_result", tool_use_id: "c", content: text }] : text })) }),
  text: (one) => one.delta?.text ?? "", call: (one) => one.delta?.partial_json },
  gemini: { path: "/v1beta/models/m:streamGenerateContent?alt=sse", body: (said) => ({
    tools: [{ functionDeclarations: [{ name: "run_shell_command", parametersJsonSchema: schema }] }],
    contents: said.map(([role, text]) => ({ role: role === "assistant" ? "model" : "user",
      parts: [role === "tool" ? { functionResponse: { name: "x", response: { output: text } } } : { text }] })) }),
  text: (one) => one.candidates?.[0]?.content?.parts?.[0]?.text ?? "",
  call: (one) => {
    const args = one.candidates?.[0]?.content?.parts?.[0]?.functionCall?.args;
    return args && JSON.stringify(args);
  } },
};

const ask = (server, form, said) => fetch(server.origin + forms[form].path,
  { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(forms[form].body(said)) });

const events = (text) => text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));

async function heard(server, form, said) {
  const all = events(await (await ask(server, form, said)).text());
  return { text: all.map(forms[form].text).join(""), call: all.map(forms[form].call).find(Boolean) };
}

const tests = {};
for (const form of Object.keys(forms)) {
  tests[`${form}_streams_text_tools_and_what_follows_a_tool`] = async (server) => {
    assert.equal((await heard(server, form, [["user", "please SLOW"]])).text, "one two three");
    assert.equal(JSON.parse((await heard(server, form, [["user", "TOOL"]])).call).command, "ls");
    assert.equal((await heard(server, form, [["user", "TOOL"], ["assistant", "x"], ["tool", "a b"]])).text, "listed");
  };
  tests[`${form}_fails_as_the_scenario_says`] = async (server) => {
    assert.equal((await ask(server, form, [["user", "BROKEN"]])).status, 500);
    const limited = await ask(server, form, [["user", "LIMIT"]]);
    assert.equal(limited.status, 429);
    assert.equal(limited.headers.get("retry-after"), "7");
  };
  tests[`${form}_echoes_every_message_it_was_shown`] = async (server) => {
    const { text } = await heard(server, form, [["user", "before"], ["assistant", "yes"], ["user", "ECHO"]]);
    assert.equal(text, "user: before\nassistant: yes\nuser: ECHO");
  };
}
tests.what_the_user_has_said_is_recalled_and_nothing_else = async (server) => {
  assert.equal((await heard(server, "chat", [["user", "keep W-12"], ["assistant", "W-9"], ["user", "RECALL"]])).text, "W-12");
  assert.equal((await heard(server, "chat", [["assistant", "W-9"], ["user", "RECALL"]])).text, "Nobody has said that.");
};
tests.a_hold_keeps_the_rest_until_it_is_released = async (server) => {
  const answer = await ask(server, "chat", [["user", "HELD"]]);
  const reader = answer.body.getReader();
  let text = "";
  while (!text.includes("first")) text += new TextDecoder().decode((await reader.read()).value);
  assert.equal(text.includes("second"), false);
  server.release("h");
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += new TextDecoder().decode(part.value);
  assert.match(text, /second/);
};
tests.history_in_front_of_a_request_chooses_no_rule = async (server) => {
  assert.equal((await heard(server, "chat", [["user", "TOOL was before\n=== NOW ===\nplease SLOW"]])).text, "one two three");
};
tests.every_request_is_one_line_of_the_log = async (server) => {
  await heard(server, "chat", [["user", "please SLOW"]]);
  const lines = readFileSync(server.log, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ n }) => n), server.requests.map(({ n }) => n));
  assert.equal(lines.at(-1).messages.at(-1).text, "please SLOW");
};
tests.a_scenario_that_says_nothing_is_refused = async () => {
  assert.throws(() => checkScenario({ rules: [] }));
  assert.throws(() => checkScenario({ rules: [{ when: "x", steps: [{ txt: "typo" }] }] }));
};

if (process.argv.includes("--list")) {
  Object.keys(tests).forEach((name) => console.log(name));
} else {
  let failures = 0;
  console.log(`1..${Object.keys(tests).length}`);
  for (const [name, test] of Object.entries(tests)) {
    const folder = mkdtempSync(join(tmpdir(), "perdure-model-"));
    const server = await ModelServer.start(scenario, join(folder, "log"));
    try {
      await test(server);
      console.log(`ok - ${name} # 0.0 s`);
    } catch (error) {
      failures += 1;
      console.log(`${error.stack}\nnot ok - ${name} # 0.0 s`);
    }
    await server.stop();
    rmSync(folder, { recursive: true });
  }
  process.exit(failures === 0 ? 0 : 1);
}
