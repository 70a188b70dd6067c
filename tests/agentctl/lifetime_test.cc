// How long an agentctl lives: with its daemon, without one, abandoned, stopped, killed; and when it
// refuses to start.
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "env/posix/confine/identity.h"
#include "fixture.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

using testing::HasSubstr;
using testing::Not;

class Lifetime : public Agentctl {
 protected:
  void TearDown() override {
    if (looks_on_) driver_.reset();  // it has nothing to stop
    Agentctl::TearDown();
  }
  // A driver that only observes, until it attaches.
  Driver& leave_alone() {
    driver_.reset();
    driver_ = std::make_unique<Driver>(setup());
    looks_on_ = true;
    return *driver_;
  }
  bool until_no_process(Driver& driver) {
    return driver.until([&] { return exec_processes(driver).empty(); });
  }
  bool socket_exists(const Bootstrap& bootstrap) const {
    return std::filesystem::exists(bootstrap.run_folder + "/" + bootstrap.exec.text() + ".sock");
  }

  bool looks_on_ = false;
};

TEST_F(Lifetime, C9_without_survive_everything_ends_with_the_link) {
  Driver& driver = begin_next({}, [](Bootstrap& bootstrap) { bootstrap.survive = false; });
  ASSERT_TRUE(driver.open_session());
  driver.prompt("spawn_child setsid; say 1; hang");
  ASSERT_TRUE(driver.until_frame("message.agent", 2));
  Driver& after = leave_alone();
  ASSERT_TRUE(until_no_process(after));
  EXPECT_FALSE(socket_exists(after.bootstrap()));
}

TEST_F(Lifetime, PROC4_with_survive_nothing_ends_with_the_link) {
  Driver& driver = begin_next({}, [](Bootstrap& bootstrap) {
    bootstrap.idle_ms = 100;  // it is not idle: its agent runs
  });
  ASSERT_TRUE(driver.open_session());
  driver.prompt("sleep 500; say 1");
  ASSERT_TRUE(driver.until([&] { return driver.acted == 3; }));
  const FrameNo last = driver.frames.back().number;
  Driver& after = leave_alone();
  const std::int64_t end_ms = after.now_ms() + 600;
  ASSERT_TRUE(after.until([&] { return after.now_ms() >= end_ms; }));
  looks_on_ = false;
  after.execution().attach(2, last);
  ASSERT_TRUE(after.until_frame("run.finished"));
}

TEST_F(Lifetime, an_agentctl_that_nobody_attaches_to_ends) {
  DriverSetup orphan = setup();
  orphan.adjust = [](Bootstrap& bootstrap) { bootstrap.orphan_ms = 150; };
  const Bootstrap bootstrap = make_bootstrap(orphan);
  const Ran ran = run_agentctl(folder_, "start", encode_bootstrap(bootstrap));
  ASSERT_EQ(ran.exit_code, 0) << ran.output;
  const auto answer = decode_bootstrap_answer(ran.output);
  ASSERT_TRUE(answer) << ran.output;
  const ProcessIdentity identity{answer->pid, static_cast<std::uint64_t>(answer->pid_started),
                                 answer->host_boot};
  Driver& watcher = leave_alone();
  EXPECT_TRUE(watcher.until([&] { return process_life(identity) == ProcessLife::dead; }));
  EXPECT_FALSE(socket_exists(bootstrap));
}

TEST_F(Lifetime, an_idle_one_ends_and_so_does_an_abandoned_one) {
  Driver& idle = begin_next({}, [](Bootstrap& bootstrap) { bootstrap.idle_ms = 150; });
  ASSERT_TRUE(idle.until_frame("executor.ready"));
  ASSERT_TRUE(until_no_process(leave_alone()));
  looks_on_ = false;
  Driver& abandoned = begin_next({}, [](Bootstrap& bootstrap) { bootstrap.abandoned_ms = 200; });
  ASSERT_TRUE(abandoned.open_session());
  abandoned.prompt("hang");
  ASSERT_TRUE(abandoned.until([&] { return abandoned.acted == 3; }));
  DriverSetup same = setup();
  same.number = 2;
  driver_ = std::make_unique<Driver>(same);
  ASSERT_TRUE(until_no_process(*driver_));
  // A later daemon can still read its last frames.
  driver_->execution().attach(2, 0);
  ASSERT_TRUE(driver_->until_gone());
  EXPECT_EQ(driver_->count("agent.exited"), 1U);
}

TEST_F(Lifetime, delete_cleans_up_after_one_that_was_killed) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("spawn_child setsid; spawn_child child"));
  const Bootstrap bootstrap = driver.bootstrap();
  const pid_t pid = agentctl_pid();
  Driver& watcher = leave_alone();
  kill(pid, SIGKILL);
  ASSERT_TRUE(watcher.until([&] { return kill(pid, 0) != 0; }));
  EXPECT_TRUE(socket_exists(bootstrap));
  for (int again = 0; again < 2; ++again) {
    const Ran ran = run_agentctl(folder_, "delete", encode_bootstrap(bootstrap));
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    EXPECT_TRUE(exec_processes(watcher).empty());
    EXPECT_FALSE(socket_exists(bootstrap));
    EXPECT_FALSE(std::filesystem::exists(bootstrap.spool_folder));
  }
  EXPECT_EQ(run_agentctl(folder_, "delete", "garbage").exit_code, 1);
  // PROC5: a start that was requested earlier arrives too late.
  const auto late =
      decode_bootstrap_answer(run_agentctl(folder_, "start", encode_bootstrap(bootstrap)).output);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->code, "conflict");
  EXPECT_THAT(late->message, HasSubstr("ran before"));
  EXPECT_FALSE(std::filesystem::exists(bootstrap.spool_folder));
  // The session is free for the next execution.
  looks_on_ = false;
  Driver& next = begin_next();
  EXPECT_TRUE(next.open_session());
}

TEST_F(Lifetime, X32_a_bootstrap_that_cannot_be_obeyed_is_refused_and_leaves_nothing) {
  const Bootstrap good = make_bootstrap(setup());
  const auto with = [&](auto change) {
    Bootstrap changed = good;
    change(changed);
    return encode_bootstrap(changed);
  };
  std::string unknown = encode_bootstrap(good);
  unknown.insert(1, "\"sandbox\":true,");
  struct Case {
    std::string text;
    const char* code;
  };
  const Case cases[] = {
      {"garbage", "invalid_argument"},
      {"", "invalid_argument"},
      {"{}", "invalid_argument"},
      {unknown, "format_too_new"},
      {with([](Bootstrap& changed) { changed.version = 2; }), "format_too_new"},
      {with([](Bootstrap& changed) { changed.secret = ""; }), "invalid_argument"},
      {with([](Bootstrap& changed) { changed.cwd = ""; }), "invalid_argument"},
      {with([](Bootstrap& changed) { changed.cwd += "/not-there"; }), "workspace_missing"},
      {with([](Bootstrap& changed) { changed.run_folder = "/proc/no"; }), ""},
      {with([](Bootstrap& changed) { changed.spool_folder = "/proc/no"; }), ""},
  };
  for (const Case& one : cases) {
    const Ran ran = run_agentctl(folder_, "start", one.text);
    EXPECT_EQ(ran.exit_code, 1) << one.text;
    const auto answer = decode_bootstrap_answer(ran.output);
    ASSERT_TRUE(answer) << ran.output << one.text;
    EXPECT_NE(answer->code, "") << one.text;
    EXPECT_NE(answer->message, "") << one.text;
    if (one.code[0] != '\0') EXPECT_EQ(answer->code, one.code) << one.text;
    EXPECT_THAT(ran.output, Not(HasSubstr(good.secret)));
    EXPECT_FALSE(std::filesystem::exists(good.spool_folder)) << one.text;
    EXPECT_FALSE(socket_exists(good)) << one.text;
  }
  Driver& driver = begin_next();  // nothing blocks it
  EXPECT_TRUE(driver.open_session());
}

TEST_F(Lifetime, PROC3_one_that_was_stopped_for_a_while_is_not_dead_and_loses_nothing) {
  Driver& driver = begin_next({"pace_ms=1"});
  ASSERT_TRUE(driver.open_session());
  driver.prompt("chunks 600 64");
  ASSERT_TRUE(driver.until_frame("message.agent", 20));
  kill(agentctl_pid(), SIGSTOP);
  const std::int64_t end_ms = driver.now_ms() + 2'000;
  ASSERT_TRUE(driver.until([&] { return driver.now_ms() >= end_ms; }));
  EXPECT_FALSE(driver.gone);
  EXPECT_EQ(driver.count("run.finished"), 0U);
  kill(agentctl_pid(), SIGCONT);
  ASSERT_TRUE(driver.until_frame("run.finished"));
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_EQ(turns->at(1), (testagent::SeenTurn{600, true}));
  EXPECT_EQ(driver.detaches, 0U);
}

TEST_F(Lifetime, PROC3_one_that_hangs_is_ended_and_its_spool_read) {
  Driver& driver = begin_next();
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(driver.run("say 3; spawn_child setsid"));
  const FrameNo last = driver.frames.back().number;
  const pid_t pid = agentctl_pid();
  driver_.reset();
  kill(pid, SIGSTOP);
  DriverSetup impatient = setup();
  impatient.adjust_setting = [](LocalSetting& setting) {
    setting.answer_ms = 100;
    setting.hang_ms = 300;
  };
  driver_ = std::make_unique<Driver>(impatient);
  driver_->execution().attach(2, last - 2);
  ASSERT_TRUE(driver_->until_gone());
  EXPECT_THAT(driver_->proof, HasSubstr("killed"));
  EXPECT_TRUE(exec_processes(*driver_).empty());
  ASSERT_EQ(driver_->frames.size(), 2U);
  EXPECT_EQ(driver_->frames.back().number, last);
}

}  // namespace
}  // namespace perdure
