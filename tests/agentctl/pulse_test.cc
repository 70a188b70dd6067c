// C19: to the daemon, an attached agentctl that is stopped is neither alive nor dead; after it
// continues, nothing is lost. Through daemon/hosting, with a real agentctl and SIGSTOP.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "daemon/hosting/local_agentctls.h"
#include "fixture.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

class Stopped : public Agentctl, protected AgentctlEvents {
 protected:
  void SetUp() override {
    Agentctl::SetUp();
    bootstrap_ = make_bootstrap(setup());
    exec_ = {bootstrap_.session, bootstrap_.exec, bootstrap_.gen};
    loop_ = EpollLoop::create().value();
    clock_ = PosixClock::create().value();
    processes_ = PosixProcesses::create(*loop_);
    host_ = std::make_unique<PosixHost>(*loop_);
    agentctls_ = std::make_unique<LocalAgentctls>(
        LocalPorts{*clock_, *loop_, *processes_, *host_},
        LocalSetting{
            .agentctl_command = {PERDURE_AGENTCTL}, .quiet_ms = 100, .quiet_answer_ms = 100},
        MakeBootstraps{
            .to_start = [this](const LaunchSpec&) -> Result<Bootstrap> { return bootstrap_; },
            .to_attach = [this](const LaunchSpec&) { return bootstrap_; }});
    agentctls_->set_events(*this);
    agentctls_->start({.session = exec_.session, .exec = exec_.exec, .gen = exec_.gen}, 1);
    ASSERT_TRUE(until([&] { return attaches_ == 1 && !frames_.empty(); }));
    pid_ = static_cast<pid_t>(get<FrameExecutorReady>(frames_[0].body).ready.pid);
  }
  void TearDown() override {
    kill(pid_, SIGCONT);
    agentctls_->stop(exec_);
    EXPECT_TRUE(until([&] { return gone_; }));
    agentctls_.reset();
    Agentctl::TearDown();
  }

  void on_attached(const ExecKey&) override { ++attaches_; }
  void on_frame(const ExecKey&, Frame frame) override {
    EXPECT_EQ(frame.number, frames_.size() + 1);
    frames_.push_back(std::move(frame));
    agentctls_->ack(exec_, frames_.size());
  }
  void on_commands_acted(const ExecKey&, std::uint64_t number) override { acted_ = number; }
  void on_detached(const ExecKey&) override { ++detaches_; }
  void on_gone(const ExecKey&, const ExecEnding&) override { gone_ = true; }

  bool until(const std::function<bool()>& condition) {
    const std::int64_t end_ms = clock_->now().since_boot.ms + 30'000;
    while (!condition()) {
      if (clock_->now().since_boot.ms > end_ms) return false;
      loop_->pump_for_ms(5);
    }
    return true;
  }
  bool until_ms_later(std::int64_t ms) {
    const std::int64_t end_ms = clock_->now().since_boot.ms + ms;
    return until([&] { return clock_->now().since_boot.ms >= end_ms; });
  }
  std::size_t count(std::string_view kind) const {
    std::size_t found = 0;
    for (const Frame& frame : frames_) found += frame_kind(frame) == kind ? 1 : 0;
    return found;
  }
  void send(CommandBody body) {
    agentctls_->send(
        exec_, {.exec = exec_.exec, .gen = exec_.gen, .number = ++sent_, .body = std::move(body)});
  }

  Bootstrap bootstrap_;
  ExecKey exec_;
  std::unique_ptr<EpollLoop> loop_;
  std::unique_ptr<PosixClock> clock_;
  std::unique_ptr<PosixProcesses> processes_;
  std::unique_ptr<PosixHost> host_;
  std::unique_ptr<LocalAgentctls> agentctls_;
  std::vector<Frame> frames_;
  pid_t pid_ = 0;
  std::size_t attaches_ = 0;
  std::size_t detaches_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t acted_ = 0;
  bool gone_ = false;
};

TEST_F(Stopped, C19_a_quiet_agentctl_that_answers_is_not_missed) {
  ASSERT_TRUE(until_ms_later(1'000));
  EXPECT_EQ(detaches_, 0U);
  EXPECT_EQ(attaches_, 1U);
}

TEST_F(Stopped, C19_one_that_is_stopped_is_missed_and_comes_back_with_nothing_lost) {
  send(StartAgent{});
  ASSERT_TRUE(until([&] { return count("agent.started") == 1; }));
  send(OpenSession{});
  ASSERT_TRUE(until([&] { return count("session.opened") == 1; }));
  send(SendPrompt{.run = RunId(Ulid{3, 1}), .prompt = {.text = "paced 40 50"}});
  for (int round = 1; round <= 2; ++round) {
    const std::size_t said = count("message.agent");
    ASSERT_TRUE(until([&] { return count("message.agent") > said; }));
    kill(pid_, SIGSTOP);
    ASSERT_TRUE(until([&] { return detaches_ == static_cast<std::size_t>(round); }));
    ASSERT_TRUE(until_ms_later(1'000));
    EXPECT_FALSE(gone_);
    EXPECT_EQ(detaches_, static_cast<std::size_t>(round)) << "told once";
    // A call is rejected at once instead of hanging with it.
    std::string answer;
    agentctls_->call(exec_, "fs.list", "{}", [&](const Result<std::string>& got) {
      answer = got ? *got : std::string(code_name(got.error().code()));
    });
    ASSERT_TRUE(until([&] { return !answer.empty(); }));
    EXPECT_EQ(answer, "unavailable");
    kill(pid_, SIGCONT);
    ASSERT_TRUE(until([&] { return attaches_ == static_cast<std::size_t>(round) + 1; }));
  }
  ASSERT_TRUE(until([&] { return count("run.finished") == 1; }));
  std::string text;
  for (const Frame& frame : frames_) {
    if (const auto* said = get_if<MessageAgent>(&frame.body)) text += said->text;
  }
  const auto turns = testagent::read_sequence(text);
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_EQ(turns->at(1), (testagent::SeenTurn{40, true}));
  EXPECT_EQ(acted_, 3U);
}

TEST_F(Stopped, C19_the_death_of_one_that_was_missed_is_told_once) {
  kill(pid_, SIGSTOP);
  ASSERT_TRUE(until([&] { return detaches_ == 1; }));
  kill(pid_, SIGKILL);
  ASSERT_TRUE(until([&] { return gone_; }));
  EXPECT_EQ(detaches_, 1U);
}

}  // namespace
}  // namespace perdure
