// The model's answers, defined by a file. A word in the user's last message selects a rule, the
// number of tool results since then selects its step: so the same question gets the same answer in
// every life of an agent.
//
//   { "begins": "=== CURRENT REQUEST ===",   the user's words of a prompt follow its last
//   occurrence
//     "rules": [ { "when": "word", "steps": [STEP…] } ],   one without `when`, at the end: default
//     "background": STEP }                    for requests without tools: titles, summaries
//
//   STEP: { "text": "…" }                          sent at once
//         { "text": "…", "word_ms": 50 }           word by word
//         { "text": "…", "hold": "name", "then": "…" }   sent; the rest when the hold is released
//         { "tool": "shell", "command": "…", "ask": true }   a call of the agent's own shell tool
//         { "status": 500, "message": "…" }        an error
//         { "status": 429, "reset_s": 60 }         a rate limit and when it ends
//         { "echo": "history" }                    one line per message that the model received
//         { "recall": "PATTERN" }                  its first match in the user's words, if any
import { readFileSync } from "node:fs";

const kinds = ["text", "tool", "status", "echo", "recall"];

export function checkScenario(scenario) {
  const check = (step, where) => {
    if (!kinds.some((kind) => step?.[kind] !== undefined)) throw new Error(`${where}: no step: ${JSON.stringify(step)}`);
  };
  if (!Array.isArray(scenario.rules) || scenario.rules.length === 0) throw new Error("a scenario has rules");
  scenario.rules.forEach(({ when, steps }, index) => {
    if (!Array.isArray(steps) || steps.length === 0) throw new Error(`rule ${when ?? index} has no steps`);
    steps.forEach((step) => check(step, `rule ${when ?? index}`));
  });
  if (scenario.background) check(scenario.background, "background");
  return scenario;
}

export const readScenario = (file) => checkScenario(JSON.parse(readFileSync(file, "utf8")));

// The user's current request, without any history placed before it.
export function wordsOf(scenario, text) {
  const at = scenario.begins ? text.lastIndexOf(scenario.begins) : -1;
  return at < 0 ? text : text.slice(at + scenario.begins.length);
}

// Returns { rule, number, step }; stateless between requests.
export function choose(scenario, request) {
  if (request.tools.length === 0) return { rule: "background", number: 0, step: scenario.background ?? { text: "A title" } };
  const isPrompt = ({ role, text }) => role === "user" && text.trim() !== "";
  const rules = scenario.rules;
  // The last prompt that a rule matches: programs append words of their own.
  for (let at = request.messages.length - 1; at >= 0; at -= 1) {
    if (!isPrompt(request.messages[at])) continue;
    const words = wordsOf(scenario, request.messages[at].text);
    const rule = rules.find(({ when }) => when !== undefined && words.includes(when));
    if (rule) return stepOf(rule, request.messages.slice(at + 1));
  }
  const other = rules.find(({ when }) => when === undefined);
  return other ? stepOf(other, []) : { rule: "none", number: 0, step: { text: "There is no rule for this." } };
}

function stepOf(rule, since) {
  const answered = since.filter(({ role }) => role === "tool").length;
  const number = Math.min(answered, rule.steps.length - 1);
  return { rule: rule.when ?? "else", number, step: rule.steps[number] };
}

const shells = ["bash", "Bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command"];

// The agent's own tool for that, with the arguments that its schema requires.
export function toolFor(step, tools) {
  const tool = shells.map((name) => tools.find((one) => one.name === name)).find(Boolean);
  if (!tool) return null;
  const properties = tool.schema.properties ?? {};
  const input = {};
  const asked = { description: "runs a command of the scenario", justification: "the scenario says so",
    is_background: false, yield_time_ms: 10_000 };
  for (const name of ["command", "cmd"]) {
    if (properties[name]) input[name] = properties[name].type === "array" ? ["bash", "-lc", step.command] : step.command;
  }
  for (const name of tool.schema.required ?? []) input[name] ??= asked[name] ?? "";
  if (properties.description) input.description ??= asked.description;
  if (step.ask && properties.sandbox_permissions) {
    input.sandbox_permissions = "require_escalated";
    input.justification = asked.justification;
  }
  return { name: tool.name, input };
}
