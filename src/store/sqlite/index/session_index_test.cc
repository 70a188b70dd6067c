// The in-memory sessions, shared by the writer that pins them and readers that offer loaded states.
#include "store/sqlite/index/session_index.h"

#include "store/sqlite/store_fixture_test.h"

namespace perdure::store_test {
namespace {

TEST(SessionIndex, J1_what_a_reader_offered_meanwhile_is_what_the_writer_gets) {
  SessionIndex index(10);
  ASSERT_EQ(index.pin(session(1), 3).state, nullptr);
  ASSERT_TRUE(index.offer({.id = session(1), .sid = 7, .head = 5}, index.generation()));
  index.mark_damaged(session(1), 2);
  const SessionIndex::Pinned pinned =
      index.pin_or_insert({.id = session(1), .sid = 7, .head = 5}, 3);
  EXPECT_EQ(pinned.state->draft, 3);
  EXPECT_TRUE(pinned.damaged) << "by what the reader has found";
  EXPECT_EQ(index.pin(session(1), 4).state, pinned.state);

  const SessionIndex::Pinned fresh = index.pin_or_insert({.id = session(2), .stored = false}, 4);
  EXPECT_EQ(fresh.state->draft, 4);
  EXPECT_FALSE(fresh.damaged);
  EXPECT_FALSE(index.visit(session(2), [](const IndexedSession&) {})) << "not committed yet";
}

TEST(SessionIndex, J3_a_session_that_got_no_number_is_not_published) {
  SessionIndex index(10);
  SessionIndex::Group group;
  group.changes.push_back(
      {.state = index.pin_or_insert({.id = session(1), .stored = false}, 0).state});
  index.publish(group);
  EXPECT_FALSE(index.visit(session(1), [](const IndexedSession&) {}));
  EXPECT_EQ(index.pin(session(1), 0).state, nullptr) << "nor left behind for the next group";
}

}  // namespace
}  // namespace perdure::store_test
