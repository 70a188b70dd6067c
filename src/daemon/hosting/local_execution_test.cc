// A start whose session lock is already held, and a launch that never answers, in a world without
// time. The lock's holder may be this very execution, still starting.
#include "daemon/hosting/local_execution.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/wire/agentctl/agentctl.h"
#include "daemon/hosting/step_world_for_test.h"
#include "testing/memory_host.h"

namespace perdure {
namespace {

struct SilentProcess final : Process {
  std::int64_t pid() const override { return 1; }
  void write(std::string_view) override {}
  std::size_t unwritten_bytes() const override { return 0; }
  void close_input() override {}
  void pause_output() override {}
  void resume_output() override {}
  void signal(int) override {}
  void resize(TerminalSize) override {}
};

// Launches answer when the test lets them.
struct Launches final : Processes {
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec&, ProcessEvents& events) override {
    last = &events;
    ++count;
    return std::make_unique<SilentProcess>();
  }
  std::size_t kill_marked(const std::string& mark) override {
    killed.push_back(mark);
    return linger;
  }
  std::size_t kill_descendants() override { return 0; }
  ProcessSet offspring(const Family&) override { return {}; }
  ProcessSet signal_each(const ProcessSet&, int) override { return {}; }

  ProcessEvents* last = nullptr;
  int count = 0;
  std::vector<std::string> killed;  // marks
  std::size_t linger = 0;           // how many of them do not end yet
};

struct ListeningHost final : MemoryHost {
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override {
    if (!wire) return MemoryHost::connect(folder, name);
    return std::make_unique<TestLink>(wire);
  }
  std::shared_ptr<Wire> wire;  // null: no process listens
};

struct Seen final : ExecutionEvents {
  void on_attached(const AttachedPacket&) override { ++attaches; }
  void on_frame(FrameNo, std::string_view) override {}
  void on_acted(std::uint64_t) override {}
  void on_reply(std::uint64_t, Result<std::string>) override {}
  void on_shell_news(const std::string&) override {}
  void on_detached(const std::string&) override {}
  void on_gone(const std::string& why) override { proof = why; }
  int attaches = 0;
  std::string proof;
};

class Launch : public ::testing::Test {
 protected:
  static Bootstrap a_bootstrap() {
    return {.session = *SessionId::parse("sess_01ka3qq5rk0000000000000001"),
            .exec = *ExecId::parse("exec_01ka3qq5rk0000000000000002"),
            .gen = 1,
            .secret = "s",
            .owner = "o.1",
            .run_folder = "/run",
            .spool_folder = "/spool",
            .cwd = "/work"};
  }
  void SetUp() override {
    clock.at.since_boot.ms = 100'000;
    execution.start(1, 0);
  }
  void pass(std::int64_t ms) {
    clock.at.since_boot.ms += ms;
    loop.run_timers();
  }
  // The lock is held.
  void refuse_launch() {
    launches.last->on_output(
        encode_bootstrap_answer({.code = "conflict", .message = "it is held"}));
    launches.last->on_exit({.code = 1});
    loop.run_timers();
  }
  void answer_attach() {
    std::string bytes;
    append_packet(bytes, AttachedPacket{.version = agentctl_version_max,
                                        .exec = bootstrap.exec,
                                        .session = bootstrap.session,
                                        .gen = bootstrap.gen});
    host.wire->events->on_bytes(bytes);
  }

  const Bootstrap bootstrap = a_bootstrap();
  StillClock clock;
  StepLoop loop;
  Launches launches;
  ListeningHost host;
  Seen seen;
  LocalExecution execution{
      {clock, loop, launches, host}, {.when_locked = WhenLocked::take_over}, bootstrap, seen};
};

TEST_F(Launch, C19_X16_who_is_on_its_way_with_the_lock_is_waited_for_and_attached_to) {
  refuse_launch();
  pass(1'000);
  pass(999);
  EXPECT_EQ(launches.killed, std::vector<std::string>{});
  host.wire = std::make_shared<Wire>();
  pass(10'000);  // first it tries to reach a listener
  ASSERT_NE(host.wire->events, nullptr);
  answer_attach();
  EXPECT_EQ(seen.attaches, 1);
  EXPECT_EQ(launches.count, 1);
  EXPECT_EQ(launches.killed, std::vector<std::string>{});
}

TEST_F(Launch, C19_X16_the_wait_begins_when_the_lock_was_found_held_however_long_that_took) {
  pass(3'000);
  refuse_launch();
  pass(1'999);
  EXPECT_EQ(launches.killed, std::vector<std::string>{});
}

TEST_F(Launch, C19_who_holds_the_lock_and_never_listens_is_ended_and_the_start_tried_once_more) {
  refuse_launch();
  pass(2'000);
  EXPECT_EQ(launches.killed, std::vector{session_mark(bootstrap)});
  EXPECT_EQ(launches.count, 2);
  refuse_launch();
  EXPECT_EQ(launches.count, 2);
  EXPECT_EQ(seen.proof, "not_started: it is held");
}

TEST_F(Launch, C19_a_stop_while_the_holder_is_being_ended_starts_nobody) {
  launches.linger = 1;
  refuse_launch();
  pass(2'000);
  EXPECT_EQ(launches.killed, std::vector{session_mark(bootstrap)});
  launches.linger = 0;
  execution.stop();
  loop.run_timers();
  EXPECT_EQ(launches.count, 1);
  EXPECT_EQ(seen.proof, "not_started: it is held");
}

// Seed 68290: the session's own deadline had been moved far away by a clock that was set back.
TEST_F(Launch, K23_a_launch_that_never_answers_is_given_up_by_the_clock_of_the_boot) {
  pass(59'999);
  EXPECT_EQ(seen.proof, "");
  pass(1);
  EXPECT_EQ(seen.proof, "killed: it did not answer");
  EXPECT_EQ(launches.killed, std::vector{exec_mark({bootstrap.exec, bootstrap.owner})});
}

TEST_F(Launch, K23_a_launch_that_never_answers_ends_sooner_when_a_stop_is_asked) {
  pass(30'000);
  execution.stop();
  EXPECT_EQ(loop.last_delay_ms, 10'000);
  pass(9'999);
  EXPECT_EQ(seen.proof, "");
  pass(1);
  EXPECT_EQ(seen.proof, "killed: it did not answer");
}

}  // namespace
}  // namespace perdure
