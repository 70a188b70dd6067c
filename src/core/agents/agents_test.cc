// The table of known agents, which every start relies on, and which command a machine gets.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/agents/presence.h"
#include "core/agents/profiles.h"

namespace perdure {
namespace {

using Words = std::vector<std::string>;

HasProgram having(std::set<std::string> programs) {
  return
      [programs = std::move(programs)](const std::string& one) { return programs.contains(one); };
}

TEST(Profiles, X12_every_known_agent_can_be_started_and_installed) {
  for (const AgentDefinition& agent : known_agents()) {
    SCOPED_TRACE(agent.profile.name);
    EXPECT_FALSE(agent.command.empty());
    EXPECT_FALSE(agent.title.empty());
    EXPECT_FALSE(install_command(agent).empty());
    EXPECT_FALSE(agent.login_hint.empty());
    EXPECT_FALSE(agent.env_pass.empty());
    EXPECT_TRUE(agent.built_in);
    EXPECT_EQ(agent.measured, !agent.measured_version.empty());
    EXPECT_EQ(agent.measured, !agent.abilities.empty());
    // A package without a version could be a different program tomorrow.
    EXPECT_EQ(agent.npm.empty(),
              agent.npm.rfind('@') == std::string::npos || agent.npm.rfind('@') == 0);
    if (agent.measured) EXPECT_TRUE(agent.npm.ends_with("@" + agent.measured_version));
  }
}

TEST(Profiles, K38_measured_abilities_win_over_what_is_said_of_an_agent) {
  const auto is_native = [](const char* name) {
    return known_agent(name)->profile.native_session_resume;
  };
  for (const char* name : {"claude", "codex", "codex-zed", "copilot", "opencode", "qwen"}) {
    EXPECT_TRUE(is_native(name)) << name;
  }
  EXPECT_EQ(known_agent("claude")->resume_command, "claude --resume {session}");
  EXPECT_TRUE(known_agent("auggie")->profile.history_context_injection);
  // Reported to have none; it can load, but not within the minute.
  EXPECT_TRUE(is_native("gemini"));
  EXPECT_EQ(known_agent("gemini")->quirks.load_slot_ms, 60'000);
  EXPECT_FALSE(known_agent("gemini")->quirks.fs);
  EXPECT_EQ(known_agent("amp")->fork_command, "amp threads fork {session}");
  EXPECT_FALSE(known_agent("amp")->continue_command.empty());
  EXPECT_FALSE(known_agent("amp")->measured);
  EXPECT_EQ(known_agent("nobody"), nullptr);
}

TEST(Presence, a_program_on_the_path_comes_before_its_package) {
  const AgentDefinition& gemini = *known_agent("gemini");
  EXPECT_EQ(presence_of(gemini, having({"gemini", "npx"})), AgentPresence::installed);
  EXPECT_EQ(command_by(AgentPresence::installed, gemini), (Words{"gemini", "--acp"}));
  EXPECT_EQ(presence_of(gemini, having({"npx"})), AgentPresence::npx);
  EXPECT_EQ(command_by(AgentPresence::npx, gemini),
            (Words{"npx", "-y", "@google/gemini-cli@0.61.0", "--acp"}));
  EXPECT_TRUE(check_presence(gemini, having({"npx"})));
}

TEST(Presence, what_is_missing_is_said_with_the_command_that_installs_it) {
  const Error gemini = check_presence(*known_agent("gemini"), having({})).error();
  EXPECT_EQ(gemini.code(), Code::agent_missing);
  EXPECT_NE(gemini.message().find("npm install -g @google/gemini-cli@0.61.0"), std::string::npos);
  // No package: npx does not help.
  const Error kimi = check_presence(*known_agent("kimi"), having({"npx"})).error();
  EXPECT_NE(kimi.message().find("uv tool install kimi-cli"), std::string::npos);
}

}  // namespace
}  // namespace perdure
