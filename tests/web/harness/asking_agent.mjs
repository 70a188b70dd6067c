// An agent that asks what its prompt says. The prompt is JSON: {call, asked, options}: `call` is
// announced as a tool call before the question, `asked` is the tool call within the question,
// `options` are its answers. Any other prompt ends its turn at once. It speaks version 1 of the
// Agent Client Protocol.
import { createInterface } from "node:readline";

let lastId = 0;
let turns = 0;
const asked = new Map(); // request id -> handler of its answer
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, body) => say({ method: "session/update", params: { sessionId, update: body } });

const textOf = (prompt) => prompt.filter((block) => block.type === "text").map((block) => block.text).join("\n");

function specOf(text) {
  try {
    return JSON.parse(text.slice(text.indexOf("{")));
  } catch {
    return null;
  }
}

function prompt(id, { sessionId, prompt: blocks }) {
  const spec = specOf(textOf(blocks));
  const end = (words) => {
    update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } });
    say({ id, result: { stopReason: "end_turn" } });
  };
  if (!spec?.options) return end("Nothing to ask.");
  turns += 1;
  const toolCallId = `call-${turns}`;
  if (spec.call) update(sessionId, { sessionUpdate: "tool_call", toolCallId, status: "pending", ...spec.call });
  lastId += 1;
  asked.set(lastId, (outcome) => end(`Chosen: ${outcome?.optionId ?? outcome?.outcome}.`));
  say({ id: lastId, method: "session/request_permission",
    params: { sessionId, toolCall: { toolCallId, ...spec.asked }, options: spec.options } });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") say({ id, result: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] } });
  else if (method === "session/new") say({ id, result: { sessionId: `asking-${process.pid}` } });
  else if (method === "session/prompt") prompt(id, params);
  else if (method === undefined && asked.has(id)) {
    const done = asked.get(id);
    asked.delete(id);
    done(result?.outcome);
  } else if (id !== undefined && method !== undefined) say({ id, error: { code: -32601, message: "not here" } });
});
