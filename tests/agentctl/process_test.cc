// What agents do to their process and their output, and how it is reported.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "fixture.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

using testagent::SeenTurn;
using testing::HasSubstr;

class AgentProcess : public Agentctl {
 protected:
  static SeenTurn turn(const Driver& driver, std::uint64_t number) {
    const auto turns = testagent::read_sequence(driver.text());
    EXPECT_TRUE(turns) << turns.error().message();
    return turns && turns->contains(number) ? turns->at(number) : SeenTurn{};
  }
};

TEST_F(AgentProcess, P1_an_abort_in_a_tool_is_told_with_its_signal_and_its_run) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  const RunId run = driver.prompt("say 1; stderr 100; sleep_tool 1");
  ASSERT_TRUE(driver.until_frame("run.finished"));
  const RunId second = driver.prompt("tool 1; stderr 100; crash abort");
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  const auto* exit = driver.last<FrameAgentExited>();
  EXPECT_EQ(exit->exit.signal, SIGABRT);
  EXPECT_EQ(exit->exit.why, "crashed");
  EXPECT_THAT(exit->exit.stderr_tail, HasSubstr("nothing to see"));
  EXPECT_EQ(driver.frames.back().run, second);
  EXPECT_NE(run, second);
  // The session can be opened again.
  const std::string id = driver.last<FrameSessionOpened>()->agent_session_id;
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(load(driver, id));
  EXPECT_TRUE(driver.run("say 1"));
}

TEST_F(AgentProcess, P2_exit_zero_in_a_turn_leaves_a_session_that_can_be_prompted) {
  Driver& driver = begin_next({"exit_zero_mid_prompt"});
  ASSERT_TRUE(driver.open_session());
  driver.prompt("say 5");
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "exited");
  EXPECT_EQ(driver.count("message.agent"), 1U);
  // A prompt that comes too late fails at once, and nothing hangs.
  driver.prompt("say 1");
  ASSERT_TRUE(driver.until_frame("run.failed"));
  EXPECT_EQ(driver.last<FrameRunFailed>()->failure.code, "agent_not_ready");
}

TEST_F(AgentProcess, P3_a_turn_that_never_completes_is_recovered_by_a_cancel) {
  Driver& driver = begin_next({"never_complete"});
  ASSERT_TRUE(driver.open_session());
  const RunId first = driver.prompt("say 2");
  ASSERT_TRUE(driver.until_frame("message.agent", 2));
  const RunId second = driver.prompt("say 1");  // waits
  driver.command(CancelPrompt{first});
  ASSERT_TRUE(driver.until_frame("run.finished"));
  ASSERT_TRUE(driver.until_frame("message.agent", 3));
  EXPECT_EQ(driver.frames.back().run, second);
  driver.command(CancelPrompt{second});
  ASSERT_TRUE(driver.until_frame("run.finished", 2));
  EXPECT_EQ(driver.count("agent.exited"), 0U);
}

TEST_F(AgentProcess, P5_fifty_loads_in_one_agent_leak_no_process) {
  const std::string id = lived({"say 2"});
  Driver& driver = begin_next({"fork_child=child"}, [](Bootstrap& bootstrap) {
    bootstrap.agent.times.load_settle_ms = 10;
  });
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(load(driver, id));
  const std::size_t processes = agent_processes(driver).size();
  const auto descriptors = [&] {
    const std::string path = "/proc/" + std::to_string(agentctl_pid()) + "/fd";
    return std::distance(std::filesystem::directory_iterator(path), {});
  };
  const auto open_before = descriptors();
  for (int i = 1; i < 50; ++i) ASSERT_TRUE(load(driver, id)) << i;
  EXPECT_EQ(agent_processes(driver).size(), processes);
  EXPECT_EQ(descriptors(), open_before);
  EXPECT_EQ(driver.count("message.agent"), 0U);
  EXPECT_TRUE(driver.run("say 1"));
}

TEST_F(AgentProcess, P7_one_huge_chunk_arrives_whole) {
  Driver& driver = begin_next({"huge_chunk=8000000"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1"));
  EXPECT_EQ(turn(driver, 1), (SeenTurn{2, true}));
  EXPECT_GE(driver.text().size(), 8'000'000U);
}

TEST_F(AgentProcess, P7_a_chunk_too_long_for_a_frame_keeps_its_text_and_says_what_is_missing) {
  Driver& driver = begin_next({"huge_chunk=26000000"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1"));
  const MessageAgent* longest = nullptr;
  for (const Frame& frame : driver.frames) {
    const auto* one = get_if<MessageAgent>(&frame.body);
    if (one && (!longest || one->text.size() > longest->text.size())) longest = one;
  }
  ASSERT_NE(longest, nullptr);
  EXPECT_EQ(longest->text.size(), 26'000'000U);
  EXPECT_THAT(longest->update.text, HasSubstr("too_long"));
  EXPECT_EQ(turn(driver, 1), (SeenTurn{2, true})) << "and everything else is there";
}

TEST_F(AgentProcess, P7_a_line_beyond_the_limit_is_passed_over) {
  Driver& driver = begin_next({"huge_chunk=70000000"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1"));
  EXPECT_EQ(driver.count("message.agent"), 2U) << "the short chunk and the end";
  if (is_memory_measured) EXPECT_LT(status_kib(agentctl_pid(), "VmRSS"), 100'000U);
}

TEST_F(AgentProcess, P7_a_flood_on_stderr_costs_nothing) {
  Driver& driver = begin_next({"floods_stderr=20000000"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 3"));
  EXPECT_EQ(turn(driver, 1), (SeenTurn{3, true}));
  if (is_memory_measured) EXPECT_LT(status_kib(agentctl_pid(), "VmHWM"), 30'000U);
}

TEST_F(AgentProcess, P8_every_kind_of_noise_does_no_harm) {
  for (const char* const noise :
       {"stdout_noise=banner", "stdout_noise=ansi", "stdout_noise=crlf",
        "stdout_noise=partial_utf8", "stdout_noise=no_final_newline",
        "stdout_noise=banner,ansi,crlf,partial_utf8,no_final_newline", "invalid_json"}) {
    Driver& driver = begin_next({noise});
    ASSERT_TRUE(driver.open_session()) << noise;
    ASSERT_TRUE(driver.run("say 9; tool 1")) << noise;
    EXPECT_EQ(turn(driver, 1), (SeenTurn{9, true})) << noise;
    EXPECT_EQ(driver.count("tool.call"), 1U) << noise;
    stop(driver);
    const std::string_view kind = noise;
    if (kind.find("no_final_newline") != std::string_view::npos) {
      EXPECT_THAT(driver.last<AgentUpdate>()->update.text, HasSubstr("last words")) << noise;
    }
    if (kind.find("banner") != std::string_view::npos) {
      EXPECT_THAT(driver.last<FrameAgentExited>()->exit.stderr_tail, HasSubstr("Welcome")) << noise;
    }
  }
}

TEST_F(AgentProcess, P8_bytes_that_are_no_utf8_stay_out_of_the_frames) {
  Driver& driver = begin_next({"invalid_utf8"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 4"));  // decode_frame() would have refused broken bytes
  EXPECT_EQ(driver.count("run.finished"), 1U);
  EXPECT_THAT(driver.text(), HasSubstr("<p1:end=4>"));
}

TEST_F(AgentProcess, P11_a_command_that_is_gone_is_told_and_may_come_back) {
  const std::string program = folder_ + "/agent-program";
  std::filesystem::create_symlink(PERDURE_TESTAGENT, program);
  DriverSetup with = setup();
  with.agent_command[0] = program;
  Driver& driver = begin(std::move(with));
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 2"));
  const std::string id = driver.last<FrameSessionOpened>()->agent_session_id;
  driver.prompt("exit 0");
  ASSERT_TRUE(driver.until_frame("agent.exited"));
  std::filesystem::remove(program);
  driver.command(StartAgent{});
  ASSERT_TRUE(driver.until_frame("agent.exited", 2));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "not_started");
  EXPECT_FALSE(driver.last<FrameAgentExited>()->exit.stderr_tail.empty());
  std::filesystem::create_symlink(PERDURE_TESTAGENT, program);
  ASSERT_TRUE(start_agent(driver));
  ASSERT_TRUE(load(driver, id));
  EXPECT_EQ(driver.last<FrameSessionOpened>()->replayed_prompts, 2U);
}

TEST_F(AgentProcess, P12_a_login_that_is_missing_is_told_as_such) {
  Driver& at_new = begin_next({"auth_required=new"});
  ASSERT_TRUE(start_agent(at_new));
  EXPECT_FALSE(open(at_new, {}));
  EXPECT_EQ(at_new.last<FrameOpenFailed>()->failure, OpenFailure::auth);
  stop(at_new);
  Driver& at_prompt = begin_next({"auth_required=prompt"});
  ASSERT_TRUE(at_prompt.open_session());
  ASSERT_TRUE(at_prompt.run("say 1"));
  EXPECT_EQ(at_prompt.last<FrameRunFailed>()->failure.code, "auth_needed");
}

TEST_F(AgentProcess, P13_a_rate_limit_comes_with_its_end) {
  Driver& driver = begin_next({"rate_limit=3600"});
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 1"));
  const RunFailed failure = driver.last<FrameRunFailed>()->failure;
  EXPECT_EQ(failure.code, "rate_limited");
  ASSERT_TRUE(failure.reset_at);
  const std::int64_t away_ms = failure.reset_at->ms - driver.wall_ms();
  EXPECT_GT(away_ms, 3'500'000);
  EXPECT_LE(away_ms, 3'600'000);
}

TEST_F(AgentProcess, P14_a_crash_loop_slows_down_gives_up_and_may_be_tried_again) {
  Driver& driver = begin_next({"exit_at_start=3"},
                              [](Bootstrap& bootstrap) { bootstrap.agent.times.backoff_ms = 40; });
  ASSERT_TRUE(driver.until_frame("executor.ready"));
  std::vector<std::int64_t> waits_ms;
  for (std::size_t round = 1; round <= 5; ++round) {
    const std::int64_t began_ms = driver.now_ms();
    driver.command(StartAgent{});
    ASSERT_TRUE(driver.until_frame("agent.exited", round));
    EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "crashed");
    waits_ms.push_back(driver.now_ms() - began_ms);
  }
  for (std::size_t i = 1; i < waits_ms.size(); ++i) EXPECT_GE(waits_ms[i], 40 << (i - 1)) << i;
  driver.command(StartAgent{});
  ASSERT_TRUE(driver.until_frame("agent.exited", 6));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "crash_loop");
  EXPECT_THAT(driver.last<FrameAgentExited>()->exit.stderr_tail, HasSubstr("cannot start"));
  driver.command(StartAgent{});  // another round
  ASSERT_TRUE(driver.until_frame("agent.exited", 7));
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "crashed");
}

TEST_F(AgentProcess, X17_a_launcher_that_forwards_no_signal_ends_with_its_agent) {
  Driver& driver = begin_next({"fork_child=reexec", "exit_on_eof=no", "ignores_sigterm"},
                              [](Bootstrap& bootstrap) {
                                bootstrap.agent.times.stop_grace_ms = 50;
                                bootstrap.agent.times.term_grace_ms = 50;
                              });
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("spawn_child setsid; say 1"));
  // The child has its mark only after its exec.
  EXPECT_TRUE(driver.until([&] { return agent_processes(driver).size() >= 3; }));
  stop(driver);
  EXPECT_TRUE(agent_processes(driver).empty());
}

}  // namespace
}  // namespace perdure
