// The spool without acks: the agent waits, memory and disk are bounded, nothing is lost.
#include <cstdint>
#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "fixture.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

constexpr std::uint64_t limit_bytes = 2UL << 20;
// A segment is an eighth of the limit; the data of one read from the agent is written whole.
constexpr std::uint64_t disk_bytes_max = limit_bytes + limit_bytes / 8 + (512UL << 10);

class Backpressure : public Agentctl {
 protected:
  Driver& begin_small(std::int64_t abandoned_ms) {
    return begin_next({}, [=](Bootstrap& bootstrap) {
      bootstrap.spool_bytes = limit_bytes;
      bootstrap.abandoned_ms = abandoned_ms;
      bootstrap.agent.times.stall_ms = 100;
      bootstrap.agent.times.stop_grace_ms = 100;
      bootstrap.agent.times.term_grace_ms = 100;
    });
  }
  static std::uint64_t spool_bytes(const Driver& driver) {
    return folder_bytes(driver.bootstrap().spool_folder);
  }
  // The agent floods without acks until the spool is full.
  static bool fill(Driver& driver) {
    driver.acks = false;
    driver.prompt("say 1; flood 16000000; say 1");
    return driver.until([&] { return spool_bytes(driver) >= limit_bytes; });
  }
};

TEST_F(Backpressure, P7_PROC5_X24_a_flood_that_nobody_acks_waits_and_arrives_whole) {
  Driver& driver = begin_small(600'000);
  ASSERT_TRUE(driver.open_session());
  const std::uint64_t before_kib = status_kib(agentctl_pid(), "VmRSS");
  ASSERT_TRUE(fill(driver));
  // It stays so: data now arriving was sent before, and the agent is blocked.
  const std::int64_t end_ms = driver.now_ms() + 500;
  while (driver.now_ms() < end_ms) {
    ASSERT_THAT(call(driver, "Health", "{}"), testing::HasSubstr(R"("agent":"busy")"));
    ASSERT_LE(spool_bytes(driver), disk_bytes_max);
  }
  const std::uint64_t full_kib = status_kib(agentctl_pid(), "VmRSS");
  if (is_memory_measured) EXPECT_LT(full_kib, before_kib + 8'192) << "from " << before_kib;
  EXPECT_EQ(driver.count("run.stalled"), 0U) << "it is not the agent that is quiet";
  EXPECT_EQ(driver.count("run.finished"), 0U);
  EXPECT_EQ(driver.count("agent.exited"), 0U);
  driver.acks = true;
  driver.execution().ack(driver.frames.back().number);
  ASSERT_TRUE(driver.until_frame("run.finished"));
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_TRUE(turns->at(1).ended);
  EXPECT_GE(driver.text().size(), 16'000'000U);
  for (std::size_t i = 0; i < driver.frames.size(); ++i) {
    ASSERT_EQ(driver.frames[i].number, i + 1);
  }
  RecordProperty("rss_kib_before", static_cast<int>(before_kib));
  RecordProperty("rss_kib_full", static_cast<int>(full_kib));
  if (is_memory_measured) EXPECT_LT(status_kib(agentctl_pid(), "VmHWM"), before_kib + 16'384);
}

TEST_F(Backpressure, a_full_spool_does_not_keep_an_abandoned_agentctl_alive) {
  Driver& driver = begin_small(3'000);
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(fill(driver));
  const FrameNo last = driver.frames.back().number;
  DriverSetup same = setup();
  driver_.reset();  // and no daemon returns in time
  driver_ = std::make_unique<Driver>(same);
  ASSERT_TRUE(driver_->until([&] { return exec_processes(*driver_).empty(); }));
  // All of the agent's output is in the spool, up to its end.
  driver_->execution().attach(2, last);
  ASSERT_TRUE(driver_->until_gone());
  EXPECT_EQ(driver_->frames.front().number, last + 1);
  ASSERT_EQ(driver_->count("agent.exited"), 1U)
      << driver_->frames.size() << " frames, the last " << frame_kind(driver_->frames.back());
  EXPECT_EQ(frame_kind(driver_->frames.back()), "agent.exited");
}

TEST_F(Backpressure, a_stop_is_obeyed_while_the_spool_is_full) {
  Driver& driver = begin_small(600'000);
  ASSERT_TRUE(driver.open_session());
  ASSERT_TRUE(fill(driver));
  driver.stop();
  // The last frames are read from the dead agentctl's spool, and acked there.
  ASSERT_TRUE(driver.until([&] { return exec_processes(driver).empty(); }));
  driver.acks = true;
  driver.execution().ack(driver.frames.back().number);
  ASSERT_TRUE(driver.until_gone());
  EXPECT_EQ(driver.last<FrameAgentExited>()->exit.why, "stopped");
  const auto turns = testagent::read_sequence(driver.text());
  ASSERT_TRUE(turns) << turns.error().message();
  EXPECT_FALSE(turns->at(1).ended);
}

}  // namespace
}  // namespace perdure
