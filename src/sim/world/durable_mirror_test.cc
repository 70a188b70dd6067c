// The mirror of acknowledged data distinguishes what a crash may leave from what it may not. It is
// compared with a MemoryStore that was given different data.
#include "sim/world/durable_mirror.h"

#include <gtest/gtest.h>

#include "testing/memory_store/memory_store.h"

namespace perdure::sim {
namespace {

const SessionId session(Ulid{.high = 1, .low = 1});

Append batch(Seq head) {
  return {.session = session,
          .expected_head = head,
          .records = {"record " + std::to_string(head + 1)},
          .outbox_add = {{head + 1, "effect"}},
          .answers = {{.key = "key " + std::to_string(head + 1), .answer = "yes"}},
          .listing = Listing{.open = true}};
}

// A crash: the acknowledged data, the batches in flight, and the disk's contents afterwards.
struct Crash {
  Verdict verdict;
  DurableMirror mirror{verdict};
  MemoryDisk disk;
  std::unique_ptr<MemoryStore> fresh = MemoryStore::open(disk);

  void has(Append one) {
    one.epoch = fresh->epoch();
    fresh->append(std::move(one), [](const Result<>& done) { ASSERT_TRUE(done); });
    fresh->step();
  }
  void acknowledge(const Append& one) { mirror.answered(mirror.begin(one), {}); }
  std::string broken() const { return verdict.first() ? verdict.first()->invariant : ""; }
};

TEST(DurableMirror, TakesWhatWasAcknowledgedAndWhatIsThereOfTheRest) {
  Crash crash;
  crash.acknowledge(batch(0));
  crash.mirror.begin(batch(1));
  crash.mirror.begin(batch(2));
  crash.has(batch(0));
  crash.has(batch(1));
  EXPECT_EQ(crash.mirror.settle(*crash.fresh), 1U);
  EXPECT_EQ(crash.broken(), "");
  EXPECT_EQ(crash.mirror.model().head(session), 2U);
  EXPECT_EQ(crash.mirror.under_way(), 0U);
}

TEST(DurableMirror, J1_finds_what_was_acknowledged_and_is_gone) {
  Crash crash;
  crash.acknowledge(batch(0));
  crash.acknowledge(batch(1));
  crash.has(batch(0));
  crash.mirror.settle(*crash.fresh);
  EXPECT_EQ(crash.broken(), "J1");
  Crash whole;
  whole.acknowledge(batch(0));
  whole.mirror.settle(*whole.fresh);
  EXPECT_EQ(whole.broken(), "J1");
}

TEST(DurableMirror, J3_finds_half_a_batch) {
  Crash crash;
  crash.acknowledge(batch(0));
  crash.mirror.begin(batch(1));
  crash.has(batch(0));
  Append half = batch(1);
  half.outbox_add.clear();
  crash.has(half);
  crash.mirror.settle(*crash.fresh);
  EXPECT_EQ(crash.broken(), "J3");
}

TEST(DurableMirror, J3_finds_what_was_refused_and_is_there) {
  Crash crash;
  crash.acknowledge(batch(0));
  crash.mirror.answered(crash.mirror.begin(batch(1)), fail(Code::disk_full, "no"));
  crash.has(batch(0));
  crash.has(batch(1));
  crash.mirror.settle(*crash.fresh);
  EXPECT_EQ(crash.broken(), "J3");
}

TEST(DurableMirror, ACK3_finds_an_answer_that_is_gone) {
  Crash crash;
  crash.acknowledge(batch(0));
  Append without = batch(0);
  without.answers.clear();
  crash.has(without);
  crash.mirror.settle(*crash.fresh);
  EXPECT_EQ(crash.broken(), "ACK3");
}

}  // namespace
}  // namespace perdure::sim
