// The checks of the machine with real agentctls can fail; and one execution runs from start to
// removal.
#include "sim/world/real_host.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace perdure::sim {
namespace {

struct Bench final : HostWatcher, AgentctlEvents {
  Bench() {
    universe.faults = Faults::none();
    universe.healed = true;
    port = host.make_port(life, loop, {});
    port->set_events(*this);
  }
  ~Bench() override { universe.scheduler.close(); }

  void on_start(const LaunchSpec&) override {}
  void on_command_acted(const ExecKey&, const SendCommand& command) override {
    acted.push_back(command.number);
  }
  void on_frames_acked(const ExecKey&, FrameNo) override {}
  bool was_declared_dead(const ExecKey&) override { return false; }
  bool is_damaged(SessionId) const override { return false; }
  bool has_ended(const ExecKey&) override { return ended; }

  void on_attached(const ExecKey&) override { attached = true; }
  void on_frame(const ExecKey& from, Frame frame) override {
    EXPECT_EQ(frame.number, frames.size() + 1);
    frames.push_back(std::move(frame));
    if (acks) port->ack(from, frames.size());
  }
  void on_commands_acted(const ExecKey&, std::uint64_t) override {}
  void on_detached(const ExecKey&) override { attached = false; }
  void on_gone(const ExecKey&, const ExecEnding& ending) override { gone = ending.proof; }

  template <class Done>
  bool run_until(const Done& done) {
    while (!done() && universe.scheduler.now_ms() < 300'000 && universe.scheduler.run_next()) {
      host.reap();
    }
    return done();
  }
  void send(CommandBody body) {
    port->send(exec,
               {.exec = exec.exec, .gen = 1, .number = ++last_command, .body = std::move(body)});
  }
  bool has(std::size_t kind) const {
    return std::ranges::any_of(frames, [&](const Frame& f) { return f.body.index() == kind; });
  }
  std::string broken() const {
    return universe.verdict.first() ? universe.verdict.first()->invariant : "";
  }
  // Opens a living execution with an agent session.
  void open() {
    port->start(spec, 1);
    ASSERT_TRUE(run_until([&] { return attached; }));
    send(StartAgent{});
    ASSERT_TRUE(run_until([&] { return has(FrameBody(FrameAgentStarted{}).index()); }));
    send(OpenSession{});
    ASSERT_TRUE(run_until([&] { return has(FrameBody(FrameSessionOpened{}).index()); }));
  }

  Universe universe{1};
  RealHost host{universe, *this};
  std::shared_ptr<Life> life = std::make_shared<Life>(Life{.number = 1});
  LifeLoop loop{universe.scheduler, life};
  LaunchSpec spec{.session = SessionId(Ulid::make({1}, 0, 1)),
                  .exec = ExecId(Ulid::make({1}, 0, 2)),
                  .gen = 1,
                  .workspace = {.cwd = "/ws"}};
  ExecKey exec{spec.session, spec.exec, 1};
  std::unique_ptr<AgentctlPort> port;
  std::vector<Frame> frames;
  std::vector<std::uint64_t> acted;
  std::uint64_t last_command = 0;
  bool acks = true;
  bool attached = false;
  bool ended = false;
  std::string gone;
};

TEST(RealHost, AnExecutionStartsWorksAndLeavesNothing) {
  Bench bench;
  bench.open();
  const RunId run(Ulid::make({1}, 0, 3));
  bench.send(SendPrompt{.run = run, .prompt = {.text = "prompt 1\nsay 3; tool 1"}});
  ASSERT_TRUE(bench.run_until([&] { return bench.has(FrameBody(FrameRunFinished{}).index()); }));
  EXPECT_TRUE(bench.host.lives(bench.exec));
  bench.port->stop(bench.exec);
  ASSERT_TRUE(bench.run_until([&] { return !bench.gone.empty(); }));
  EXPECT_EQ(bench.gone, "exit: stopped");
  bench.ended = true;
  bench.host.check_quiet();
  EXPECT_EQ(bench.broken(), "");
  EXPECT_EQ(bench.acted, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(RealHost, PROC5_an_end_is_not_told_before_its_frames_are_journalled) {
  Bench bench;
  bench.acks = false;
  bench.port->start(bench.spec, 1);
  ASSERT_TRUE(bench.run_until([&] { return !bench.frames.empty(); }));
  bench.host.reboot();
  EXPECT_FALSE(bench.run_until([&] { return !bench.gone.empty(); }));
  bench.port->ack(bench.exec, bench.frames.size());
  // The scheduler is at its bound: the posted tasks need only a few steps.
  for (int step = 0; step < 100 && bench.gone.empty(); ++step) bench.universe.scheduler.run_next();
  EXPECT_NE(bench.gone, "");
}

TEST(RealHost, PROC6_what_a_living_execution_has_is_found_when_it_is_said_to_have_ended) {
  Bench bench;
  bench.open();
  bench.ended = true;
  bench.host.check_quiet();
  EXPECT_EQ(bench.broken(), "PROC6");
}

TEST(RealHost, RUN4_a_prompt_that_is_given_twice_is_found) {
  Bench bench;
  bench.open();
  const RunId run(Ulid::make({1}, 0, 3));
  bench.send(SendPrompt{.run = run, .prompt = {.text = "prompt 1\nsay 1"}});
  ASSERT_TRUE(bench.run_until([&] { return bench.has(FrameBody(FrameRunFinished{}).index()); }));
  EXPECT_EQ(bench.broken(), "");
  bench.send(SendPrompt{.run = run, .prompt = {.text = "prompt 1\nsay 1"}});
  EXPECT_TRUE(bench.run_until([&] { return bench.broken() == "RUN4"; }));
}

// Seed 171: an abandoned link was reused while it was attached.
TEST(RealHost, C19_an_agentctl_that_hangs_while_it_stops_is_ended_by_force) {
  Bench bench;
  bench.open();
  bench.universe.faults.agentctl_pause = 1'000'000;
  bench.host.maybe_hurt();
  bench.universe.faults = Faults::none();
  bench.port->stop(bench.exec);
  EXPECT_TRUE(bench.run_until([&] { return !bench.host.lives(bench.exec); }));
  bench.port->ack(bench.exec, bench.frames.size());
  EXPECT_TRUE(bench.run_until([&] { return !bench.gone.empty(); }));
}

// Seed 139: the lock of a life that a person declared dead blocked every new life.
TEST(RealHost, PROC1_a_new_life_ends_the_one_that_still_has_the_lock) {
  Bench bench;
  bench.open();
  LaunchSpec next = bench.spec;
  next.exec = ExecId(Ulid::make({1}, 0, 9));
  next.gen = 2;
  bench.attached = false;
  bench.frames.clear();
  bench.port->start(next, 1);
  EXPECT_TRUE(bench.run_until([&] { return bench.attached; }));
  EXPECT_FALSE(bench.host.lives(bench.exec));
  EXPECT_TRUE(bench.host.lives({next.session, next.exec, 2}));
  EXPECT_EQ(bench.broken(), "");
}

}  // namespace
}  // namespace perdure::sim
