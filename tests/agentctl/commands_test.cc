// Real processes of a real agent: processes that a cancelled turn left running are ended, earlier
// ones are not, and the death of a tool server affects no other process.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "env/posix/process/proc.h"
#include "fixture.h"

namespace perdure {
namespace {

using testing::HasSubstr;

class AgentCommands : public Agentctl {
 protected:
  using Pids = std::set<pid_t>;
  static Pids pids(const Driver& driver) {
    const std::vector<pid_t> found = agent_processes(driver);
    return {found.begin(), found.end()};
  }
  static Pids without(Pids all, const Pids& those) {
    for (const pid_t pid : those) all.erase(pid);
    return all;
  }
  static bool ignores_term(pid_t pid) {
    std::istringstream lines(read_whole("/proc/" + std::to_string(pid) + "/status"));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("SigIgn:")) continue;
      return (std::strtoull(line.c_str() + 7, nullptr, 16) & (1ULL << (SIGTERM - 1))) != 0;
    }
    return false;
  }
  static std::size_t notes(const Driver& driver, std::string_view text) {
    std::size_t count = 0;
    for (const Frame& frame : driver.frames) {
      const auto* update = get_if<AgentUpdate>(&frame.body);
      count += update && update->update.text.find(text) != std::string::npos ? 1 : 0;
    }
    return count;
  }
  // True only after exec: between fork and exec a process lacks the environment that identifies it.
  static bool runs(pid_t pid) {
    return read_whole("/proc/" + std::to_string(pid) + "/cmdline").find("--sleep") !=
           std::string::npos;
  }
  // Starts a turn whose command runs; returns the processes from before it.
  Pids begin_command(Driver& driver, const std::string& how) {
    const Pids before = pids(driver);
    const std::size_t calls = driver.count("tool.call");
    run_ = driver.prompt("command " + how);
    EXPECT_TRUE(driver.until_frame("tool.call", calls + 1));
    EXPECT_TRUE(driver.until([&] {
      const Pids started = without(pids(driver), before);
      return !started.empty() && std::ranges::all_of(started, runs);
    }));
    return before;
  }

  RunId run_;
};

TEST_F(AgentCommands, P4_X4_a_cancelled_turn_leaves_no_command_behind) {
  // The child from the start stands for an MCP server.
  Driver& driver = begin_next({"cancel_leaves_tools", "fork_child=setsid"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1"));
  ASSERT_TRUE(driver.until([&] { return pids(driver).size() == 2; }));
  std::size_t turns = 1;
  std::size_t cancels = 0;
  for (const char* const how : {"child", "setsid"}) {
    const Pids before = begin_command(driver, how);
    const Pids started = without(pids(driver), before);
    ASSERT_EQ(started.size(), 1U) << how;
    driver.command(CancelPrompt{run_});
    ASSERT_TRUE(driver.until_frame("run.finished", ++turns)) << how;
    EXPECT_EQ(driver.last<FrameRunFinished>()->stop_reason, "cancelled");
    EXPECT_TRUE(driver.until([&] { return pids(driver) == before; })) << how;
    EXPECT_EQ(notes(driver, "commands_ended"), ++cancels) << how;
    EXPECT_EQ(notes(driver, "commands_killed"), 0U) << how;
    ASSERT_TRUE(driver.run("say 1")) << how;
    ++turns;
  }
  EXPECT_EQ(driver.count("agent.exited"), 0U);
}

TEST_F(AgentCommands, P4_a_command_that_ignores_the_signal_is_killed_and_the_next_prompt_waits) {
  Driver& driver = begin_next({"cancel_leaves_tools"}, [](Bootstrap& bootstrap) {
    bootstrap.agent.times.term_grace_ms = 300;
  });
  ASSERT_TRUE(driver.open_session());
  const Pids before = begin_command(driver, "stubborn");
  const Pids started = without(pids(driver), before);
  ASSERT_EQ(started.size(), 1U);
  const pid_t stubborn = *started.begin();
  ASSERT_TRUE(driver.until([&] { return ignores_term(stubborn); }));
  driver.command(CancelPrompt{run_});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  EXPECT_EQ(pids(driver).size(), before.size() + 1) << "it has its grace";
  const RunId next = driver.prompt("say 1");
  ASSERT_TRUE(driver.until_frame("run.finished", 2));
  EXPECT_EQ(driver.last<FrameRunFinished>()->run, next);
  EXPECT_EQ(pids(driver), before);
  // The kill comes before the prompt.
  std::size_t killed_at = 0;
  std::size_t said_at = 0;
  for (std::size_t i = 0; i < driver.frames.size(); ++i) {
    const auto* update = get_if<AgentUpdate>(&driver.frames[i].body);
    if (update && update->update.text.find("commands_killed") != std::string::npos) killed_at = i;
    if (frame_kind(driver.frames[i]) == "message.agent" && said_at == 0) said_at = i;
  }
  EXPECT_GT(killed_at, 0U);
  EXPECT_GT(said_at, killed_at);
}

TEST_F(AgentCommands, P4_where_the_agent_says_how_its_tool_ended_nothing_is_touched) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  const Pids before = begin_command(driver, "child");
  driver.command(CancelPrompt{run_});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  ASSERT_TRUE(driver.run("say 1"));
  EXPECT_EQ(pids(driver).size(), before.size() + 1);
  EXPECT_EQ(notes(driver, "commands_ended"), 0U);
}

TEST_F(AgentCommands, P16_a_tool_server_that_dies_does_not_end_the_session) {
  Driver& driver = begin_next({"mcp_server"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1"));
  const Pids all = pids(driver);
  ASSERT_EQ(all.size(), 2U);
  pid_t server = 0;
  for (const pid_t pid : all) {
    const auto stat = read_proc_stat(pid);
    if (stat && all.contains(static_cast<pid_t>(stat->parent))) server = pid;
  }
  ASSERT_NE(server, 0);
  // Mid-turn; the turn continues.
  driver.prompt("say 1; sleep 300; say 2");
  ASSERT_TRUE(driver.until_frame("message.agent", driver.count("message.agent") + 1));
  kill(server, SIGKILL);
  ASSERT_TRUE(driver.until_frame("run.finished", 2));
  EXPECT_EQ(driver.last<FrameRunFinished>()->stop_reason, "end_turn");
  EXPECT_EQ(notes(driver, R"(MCP server \"tools\" ended)"), 1U) << "what the agent says of it";
  ASSERT_TRUE(driver.run("tool 1; say 1"));
  EXPECT_EQ(driver.count("agent.exited"), 0U);
  driver.prompt("exit 3");
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  EXPECT_THAT(driver.last<FrameAgentExited>()->exit.stderr_tail, HasSubstr("mcp: the server"));
}

}  // namespace
}  // namespace perdure
