// The tested real agents as data: package, program, and the settings that make each use our model
// instead of its vendor's. `forget` names the folder of its sessions, below its home: without it
// the agent's ids become unknown. It is then prepared again.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const arch = process.arch === "arm64" ? "arm64" : "x64";

// The Node.js version that the programs need; the machine's own may be older.
export const node = { folder: "agents/node", packages: { [`node-linux-${arch}`]: "22.23.3" },
  bin: (cache) => join(cache, "node_modules", `node-linux-${arch}`, "bin") };

function put(home, path, text) {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const json = (home, path, value) => put(home, path, JSON.stringify(value));

export const agents = [
  {
    name: "opencode",
    packages: { "opencode-ai": "1.18.33" },
    // The package's own program is only installed by a script of the package, which we do not run.
    command: (modules) => [join(modules, `opencode-linux-${arch}/bin/opencode`), "acp"],
    rung: "resume",
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" }),
    prepare: (home, base) => json(home, "config/opencode/opencode.json", {
      autoupdate: false, share: "disabled", model: "fake/fake-1", small_model: "fake/fake-1", enabled_providers: ["fake"],
      provider: { fake: { npm: "@ai-sdk/openai-compatible", name: "Fake", options: { baseURL: `${base}/v1`, apiKey: "dummy" },
        models: { "fake-1": { name: "Fake 1", limit: { context: 128000, output: 8192 } } } } },
      permission: { edit: "ask", bash: "ask" },
    }),
    forget: ["share/opencode"],
  },
  {
    name: "codex",
    packages: { "@agentclientprotocol/codex-acp": "2.6.0" },
    command: (modules) => [join(modules, ".bin/codex-acp")],
    rung: "resume",
    env: (home) => ({ CODEX_HOME: join(home, "codex"), FAKE_API_KEY: "dummy", INITIAL_AGENT_MODE: "workspace-write" }),
    prepare: (home, base) => put(home, "codex/config.toml", [
      'model = "fake-1"', 'model_provider = "fake"', 'approval_policy = "on-request"', 'approvals_reviewer = "user"',
      'sandbox_mode = "workspace-write"', "check_for_update_on_startup = false", "[analytics]", "enabled = false",
      "[model_providers.fake]", 'name = "fake"', `base_url = "${base}/v1"`, 'wire_api = "responses"',
      'env_key = "FAKE_API_KEY"', "request_max_retries = 0", "stream_max_retries = 0", ""].join("\n")),
    forget: ["codex"],
  },
  {
    name: "claude",
    packages: { "@agentclientprotocol/claude-agent-acp": "0.99.0" },
    command: (modules) => [join(modules, ".bin/claude-agent-acp")],
    rung: "resume",
    env: (home, base) => ({ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: "dummy", CLAUDE_CONFIG_DIR: join(home, ".claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1", IS_SANDBOX: "1" }),
    prepare: (home) => mkdirSync(join(home, ".claude"), { recursive: true }),
    forget: [".claude/projects"],
  },
  {
    name: "qwen",
    packages: { "@qwen-code/qwen-code": "0.24.4" },
    command: (modules) => [join(modules, ".bin/qwen"), "--acp"],
    rung: "resume",
    env: (_home, base) => ({ OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_KEY: "dummy", OPENAI_MODEL: "fake-1" }),
    prepare: (home) => json(home, ".qwen/settings.json", { security: { auth: { selectedType: "openai" } },
      privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false }, tools: { approvalMode: "default" },
      general: { enableAutoUpdate: false } }),
    forget: [".qwen/projects", ".qwen/tmp"],
  },
  {
    name: "gemini",
    packages: { "@google/gemini-cli": "0.61.0" },
    command: (modules) => [join(modules, ".bin/gemini"), "--acp", "-m", "gemini-2.5-flash"],
    rung: "load",
    env: (_home, base) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: "dummy" }),
    prepare: (home) => json(home, ".gemini/settings.json", {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false },
      general: { enableAutoUpdate: false, disableAutoUpdate: true, sessionRetention: { enabled: false } } }),
    forget: [".gemini/tmp"],
  },
];

// Measured by a probe, not run through the scenes.
export const probedOnly = [
  {
    name: "copilot",
    packages: { "@github/copilot": "1.0.102" },
    command: (modules) => [join(modules, ".bin/copilot"), "--acp", "--no-auto-update"],
    env: (_home, base) => ({ COPILOT_PROVIDER_BASE_URL: `${base}/v1`, COPILOT_PROVIDER_API_KEY: "dummy", COPILOT_MODEL: "fake-1",
      COPILOT_OFFLINE: "true" }),
    prepare: () => {},
    forget: [],
  },
  {
    name: "codex-zed",
    packages: { "@zed-industries/codex-acp": "0.16.0" },
    command: (modules) => [join(modules, ".bin/codex-acp")],
    env: (home) => ({ CODEX_HOME: join(home, "codex"), FAKE_API_KEY: "dummy" }),
    prepare: (home, base) => agents.find(({ name }) => name === "codex").prepare(home, base),
    forget: [],
  },
];
