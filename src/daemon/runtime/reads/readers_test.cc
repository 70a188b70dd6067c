// Records kept for slower readers are bounded, in number and in bytes.
#include "daemon/runtime/reads/readers.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/runtime/fixture_for_test.h"

namespace perdure {
namespace {

// One session with a reader that accepts nothing.
class ReadersTest : public ::testing::Test {
 protected:
  ReadersTest() { readers_.add(1, 0, slow_); }

  void publish(std::size_t bytes) {
    readers_.publish(++head_, {std::make_shared<const std::string>(bytes, 'x')});
  }

  Daemon daemon_;
  ActorShared shared_{.world = {daemon_.loop, daemon_.loop, daemon_.loop, daemon_.loop,
                                *daemon_.store, daemon_.agentctls, daemon_.loop}};
  Readers readers_{shared_, SessionId(Ulid{1, 1})};
  Reader slow_{};
  Seq head_ = 0;
};

TEST_F(ReadersTest, G8_records_for_a_reader_that_is_behind_are_kept_up_to_so_many_bytes) {
  slow_.space = 0;
  constexpr std::size_t large = recent_bytes_max / 4;
  for (int i = 0; i < 20; ++i) {
    publish(large);
    EXPECT_LE(readers_.recent_bytes(), recent_bytes_max);
  }
  EXPECT_EQ(readers_.recent_bytes(), recent_bytes_max) << "and not fewer than fit";
  publish(3 * recent_bytes_max);
  EXPECT_EQ(readers_.recent_bytes(), 3 * recent_bytes_max) << "the newest is kept, however long";
  publish(1);
  EXPECT_EQ(readers_.recent_bytes(), 1U);
}

// Seed 374 on SQLite: a commit is in the store before its session is notified.
TEST_F(ReadersTest, STREAM3_nobody_is_given_more_than_the_session_knows_of) {
  ASSERT_TRUE(daemon_.create());
  const Seq durable = daemon_.store->head(daemon_.session)->seq;
  ASSERT_GT(durable, 1U);
  Readers readers(shared_, daemon_.session);
  Reader reader;
  readers.add(7, 0, reader);
  readers.pump(7, durable - 1);
  EXPECT_EQ(reader.seen.size(), durable - 1);
  readers.pump(7, durable);
  EXPECT_EQ(reader.seen.size(), durable);
}

TEST_F(ReadersTest, G8_and_up_to_so_many_records) {
  slow_.space = 0;
  for (std::size_t i = 0; i < recent_records_max + 7; ++i) publish(10);
  EXPECT_EQ(readers_.recent_bytes(), recent_records_max * 10);
  readers_.forget_recent();
  EXPECT_EQ(readers_.recent_bytes(), 0U);
}

}  // namespace
}  // namespace perdure
