// The table of known agents. Abilities and quirks of measured ones were observed with exactly that
// version, offline, against a scripted model; if they differ from an agent's own claim, the
// measurement is listed here (K38).
#include "core/agents/profiles.h"

#include <algorithm>

namespace perdure {
namespace {

AgentDefinition claude() {
  return {
      .profile = {.name = "claude", .history_context_injection = true},
      .title = "Claude Code",
      .command = {"claude-agent-acp"},
      .npm = "@agentclientprotocol/claude-agent-acp@0.99.0",
      .env_pass = {"ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_APPLICATION_CREDENTIALS",
                   "CLOUD_ML_REGION", "DISABLE_*", "IS_SANDBOX"},
      // From a Claude Code that Perdure itself runs in: the agent would consider itself part of it.
      .env_strip = {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"},
      .resume_command = "claude --resume {session}",
      .fork_command = "claude --resume {session} --fork-session",
      .continue_command = "claude --continue",
      .login_hint = "Run `claude` once and log in with /login, or set ANTHROPIC_API_KEY.",
      .measured = true,
      .measured_version = "0.99.0",
      .abilities = {"load", "resume", "list", "close", "delete", "fork"},
      .quirks = {.fs = false, .terminal = false, .wraps = true, .uuid_ids = true}};
}

AgentDefinition codex() {
  return {.profile = {.name = "codex", .history_context_injection = true},
          .title = "Codex",
          .command = {"codex-acp"},
          .npm = "@agentclientprotocol/codex-acp@2.6.0",
          .env_pass = {"OPENAI_*", "CODEX_API_KEY", "CODEX_HOME", "INITIAL_AGENT_MODE"},
          .resume_command = "codex resume {session}",
          .fork_command = "codex fork {session}",
          .continue_command = "codex resume --last",
          .login_hint = "Run `codex login`, or set OPENAI_API_KEY.",
          .measured = true,
          .measured_version = "2.6.0",
          .abilities = {"load", "resume", "list", "close", "delete", "fork"},
          .quirks = {.stop_grace_ms = 4'000, .fs = false, .terminal = false, .wraps = true}};
}

AgentDefinition codex_zed() {
  return {
      .profile = {.name = "codex-zed", .history_context_injection = true},
      .title = "Codex (the adapter of Zed)",
      // Both adapters name their program codex-acp: this one is only ever run from its own package.
      .command = {"codex-acp-zed"},
      .npm = "@zed-industries/codex-acp@0.16.0",
      .env_pass = {"OPENAI_*", "CODEX_API_KEY", "CODEX_HOME"},
      .resume_command = "codex resume {session}",
      .fork_command = "codex fork {session}",
      .continue_command = "codex resume --last",
      .login_hint = "Run `codex login`, or set OPENAI_API_KEY.",
      .measured = true,
      .measured_version = "0.16.0",
      .abilities = {"load", "resume", "list", "close"},
      .quirks = {.fs = false, .terminal = false, .exits_on_eof = false, .wraps = true}};
}

AgentDefinition opencode() {
  return {.profile = {.name = "opencode", .history_context_injection = true},
          .title = "OpenCode",
          .command = {"opencode", "acp"},
          .npm = "opencode-ai@1.18.33",
          .env_pass = {"OPENCODE_*", "OPENAI_*", "ANTHROPIC_*", "GEMINI_API_KEY", "GOOGLE_*",
                       "OPENROUTER_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "AWS_*"},
          .env_strip = {"OPENCODE_SERVER_PASSWORD", "OPENCODE_PID"},
          .resume_command = "opencode --session {session}",
          .fork_command = "opencode --session {session} --fork",
          .continue_command = "opencode --continue",
          .login_hint = "Run `opencode auth login`.",
          .measured = true,
          .measured_version = "1.18.33",
          .abilities = {"load", "resume", "list", "close", "fork"},
          .quirks = {.fs = false, .terminal = false}};
}

AgentDefinition gemini() {
  return {.profile = {.name = "gemini", .history_context_injection = true},
          .title = "Gemini CLI",
          .command = {"gemini", "--acp"},
          .npm = "@google/gemini-cli@0.61.0",
          .env_pass = {"GEMINI_*", "GOOGLE_*"},
          .env_strip = {"GEMINI_CLI"},
          .resume_command = "gemini --resume latest",
          .continue_command = "gemini --resume latest",
          .login_hint = "Run `gemini` once and log in, or set GEMINI_API_KEY.",
          .measured = true,
          .measured_version = "0.61.0",
          .abilities = {"load"},
          // It answers a load before its replay is over, and names a session's file by the minute:
          // a load within the minute in which the session was opened overwrites the file. With our
          // file service it cannot create files.
          .quirks = {.load_settle_ms = 1'500,
                     .load_slot_ms = 60'000,
                     .fs = false,
                     .terminal = false,
                     .exits_on_eof = false,
                     .wraps = true,
                     .cwd_bound = true}};
}

AgentDefinition copilot() {
  return {.profile = {.name = "copilot", .history_context_injection = true},
          .title = "GitHub Copilot CLI",
          .command = {"copilot", "--acp", "--no-auto-update"},
          .npm = "@github/copilot@1.0.102",
          .env_pass = {"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"},
          .resume_command = "copilot --resume {session}",
          .continue_command = "copilot --continue",
          .login_hint = "Run `copilot login`, or set GH_TOKEN.",
          .measured = true,
          .measured_version = "1.0.102",
          .abilities = {"load", "list", "close"},
          .quirks = {.stop_grace_ms = 4'000, .fs = false, .terminal = false, .wraps = true}};
}

AgentDefinition qwen() {
  return {.profile = {.name = "qwen", .history_context_injection = true},
          .title = "Qwen Code",
          .command = {"qwen", "--acp"},
          .npm = "@qwen-code/qwen-code@0.24.4",
          .env_pass = {"OPENAI_*", "DASHSCOPE_*", "QWEN_*", "BAILIAN_*"},
          .env_strip = {"QWEN_CODE"},
          .resume_command = "qwen --resume {session}",
          .continue_command = "qwen --continue",
          .login_hint = "Run `qwen` once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL.",
          .measured = true,
          .measured_version = "0.24.4",
          .abilities = {"load", "resume", "list"},
          .quirks = {.stop_grace_ms = 5'000,
                     .fs = false,
                     .terminal = false,
                     .wraps = true,
                     .cwd_bound = true}};
}

AgentDefinition auggie() {
  return {.profile = {.name = "auggie", .history_context_injection = true},
          .title = "Auggie",
          .command = {"auggie", "--acp", "--allow-indexing", "--permission",
                      "launch-process:ask-user", "--permission", "save-file:ask-user"},
          .npm = "@augmentcode/auggie@0.36.0",
          .env_pass = {"AUGMENT_*"},
          .resume_command = "auggie --resume {session}",
          .continue_command = "auggie --continue",
          .login_hint = "Run `auggie login`.",
          .measured = true,
          .measured_version = "0.36.0",
          .abilities = {"load", "list"},
          .quirks = {.fs = false, .terminal = false}};
}

// As their makers describe them; not tested here.
std::vector<AgentDefinition> unmeasured() {
  return {{.profile = {.name = "amp",
                       .native_session_resume = false,
                       .history_context_injection = true},
           .title = "Amp",
           .command = {"amp-acp"},
           .install = "npm install -g @sourcegraph/amp amp-acp",
           .env_pass = {"AMP_*"},
           .resume_command = "amp threads continue {session}",
           .fork_command = "amp threads fork {session}",
           .continue_command = "amp threads continue",
           .login_hint = "Run `amp login`, or set AMP_API_KEY.",
           .quirks = {.fs = false, .terminal = false}},
          {.profile = {.name = "goose", .history_context_injection = true},
           .title = "Goose",
           .command = {"goose", "acp"},
           .install = "see the installation page of Goose (block/goose)",
           .env_pass = {"GOOSE_*", "OPENAI_*", "ANTHROPIC_*", "GOOGLE_API_KEY", "DATABRICKS_*"},
           .resume_command = "goose session --resume --session-id {session}",
           .continue_command = "goose session --resume",
           .login_hint = "Run `goose configure`."},
          {.profile = {.name = "cursor", .history_context_injection = true},
           .title = "Cursor",
           .command = {"cursor-agent", "acp"},
           .install = "see the installation page of the Cursor CLI",
           .env_pass = {"CURSOR_*"},
           .resume_command = "cursor-agent --resume {session}",
           .continue_command = "cursor-agent resume",
           .login_hint = "Run `cursor-agent login`, or set CURSOR_API_KEY."},
          {.profile = {.name = "kimi", .history_context_injection = true},
           .title = "Kimi CLI",
           .command = {"kimi", "acp"},
           .install = "uv tool install kimi-cli",
           .env_pass = {"KIMI_*", "MOONSHOT_*"},
           .resume_command = "kimi --session {session}",
           .continue_command = "kimi --continue",
           .login_hint = "Run `kimi` once and log in with /login."}};
}

std::vector<AgentDefinition> all_known() {
  std::vector<AgentDefinition> out = unmeasured();
  for (auto* const make : {claude, codex, codex_zed, opencode, gemini, copilot, qwen, auggie}) {
    out.push_back(make());
  }
  for (AgentDefinition& agent : out) agent.built_in = true;
  std::ranges::sort(out, {}, [](const AgentDefinition& agent) { return agent.profile.name; });
  return out;
}

}  // namespace

const std::vector<AgentDefinition>& known_agents() {
  static const std::vector<AgentDefinition> known = all_known();
  return known;
}

const AgentDefinition* known_agent(std::string_view name) {
  const std::vector<AgentDefinition>& known = known_agents();
  const auto found = std::ranges::find(
      known, name, [](const AgentDefinition& agent) { return agent.profile.name; });
  return found == known.end() ? nullptr : &*found;
}

}  // namespace perdure
