// A start that loses its starter: the daemon dies or gives up after the agentctl has claimed the
// execution and before it can report that.
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "env/posix/process/proc.h"
#include "fixture.h"

namespace perdure {
namespace {

class Overtaken : public Agentctl {
 protected:
  void TearDown() override {
    if (HasFailure()) {
      for (const pid_t pid : exec_processes(*driver_)) kill(pid, SIGKILL);
    }
    Agentctl::TearDown();
  }

  // Stops an agentctl before it has answered, ends its starter, and continues it. The driver is the
  // next daemon.
  void overtake(const Adjust& adjust = {}) {
    DriverSetup same = setup();
    same.adjust = adjust;
    DriverSetup stopping = same;
    stopping.adjust_setting = [](LocalSetting& setting) {
      setting.environment.emplace_back("FAILPOINT=agentctl.before_answer=1*stop");
    };
    same.adjust_setting = [](LocalSetting& setting) {
      setting.when_locked = WhenLocked::take_over;  // the daemon's setting
    };
    driver_ = std::make_unique<Driver>(same);
    auto starter = std::make_unique<Driver>(stopping);
    starter->start();
    ASSERT_TRUE(starter->until([&] { return find_stopped(); }));
    starter.reset();
    ASSERT_TRUE(driver_->until([&] { return exec_processes(*driver_) == std::vector{pid_}; }));
    ASSERT_EQ(kill(pid_, SIGCONT), 0);
  }

  pid_t pid_ = 0;  // of the agentctl

 private:
  bool find_stopped() {
    for (const pid_t pid : exec_processes(*driver_)) {
      const Result<ProcStat> stat = read_proc_stat(pid);
      if (stat && stat->state == 'T') pid_ = pid;
    }
    return pid_ != 0;
  }
};

TEST_F(Overtaken, PROC4_X16_one_whose_starter_is_gone_goes_on_and_the_next_start_attaches_to_it) {
  ASSERT_NO_FATAL_FAILURE(overtake());
  driver_->execution().start(2, 0);
  ASSERT_TRUE(driver_->until([&] { return driver_->gone || !driver_->attaches.empty(); }));
  ASSERT_FALSE(driver_->gone) << driver_->proof;
  EXPECT_EQ(agentctl_pid(), pid_);
  ASSERT_TRUE(driver_->open_session());
  EXPECT_TRUE(driver_->run("say 1"));
}

TEST_F(Overtaken, C9_one_that_is_to_end_with_its_daemon_waits_for_it_too) {
  ASSERT_NO_FATAL_FAILURE(overtake([](Bootstrap& bootstrap) { bootstrap.survive = false; }));
  driver_->execution().start(2, 0);
  ASSERT_TRUE(driver_->until([&] { return driver_->gone || !driver_->attaches.empty(); }));
  ASSERT_FALSE(driver_->gone) << driver_->proof;
  EXPECT_EQ(agentctl_pid(), pid_);
}

TEST_F(Overtaken, PROC4_PROC6_one_that_nobody_asks_for_again_ends_as_an_orphan) {
  ASSERT_NO_FATAL_FAILURE(overtake([](Bootstrap& bootstrap) { bootstrap.orphan_ms = 150; }));
  ASSERT_TRUE(driver_->until([&] { return exec_processes(*driver_).empty(); }));
  const Bootstrap& bootstrap = driver_->bootstrap();
  EXPECT_FALSE(
      std::filesystem::exists(bootstrap.run_folder + "/" + bootstrap.exec.text() + ".sock"));
  // It served until then: a later daemon can read its frames, which prove its end.
  driver_->execution().attach(2, 0);
  ASSERT_TRUE(driver_->until_gone());
  EXPECT_EQ(driver_->count("executor.ready"), 1U);
  EXPECT_TRUE(driver_->attaches.empty());
}

}  // namespace
}  // namespace perdure
