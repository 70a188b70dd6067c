// What a copy of a session is called, so that a list tells it from the original.
#include "session/fork.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace perdure {
namespace {

std::string title_of_copy(const std::string& title, CopyKind kind) {
  Forker forker({.from = SessionId(Ulid{1, 2}), .to = SessionId(Ulid{1, 3}), .kind = kind});
  Record created{.seq = 1};
  created.event.body = SessionCreated{.session = SessionId(Ulid{1, 2}), .title = title};
  forker.copy({&created, 1});
  forker.close();
  return forker.state().title;
}

TEST(Fork, a_copy_is_told_from_its_original_by_its_title) {
  EXPECT_EQ(title_of_copy("Fix it", CopyKind::forked), "Fix it (fork)");
  EXPECT_EQ(title_of_copy("Fix it (fork)", CopyKind::forked), "Fix it (fork 2)");
  EXPECT_EQ(title_of_copy("Fix it (fork 9)", CopyKind::forked), "Fix it (fork 10)");
  EXPECT_EQ(title_of_copy("Fix it (forked road)", CopyKind::forked), "Fix it (forked road) (fork)");
  EXPECT_EQ(title_of_copy("Fix it (fork)", CopyKind::imported), "Fix it (fork) (imported)");
  EXPECT_EQ(title_of_copy("", CopyKind::forked), "fork of 000002");
}

TEST(Fork, G8_a_long_title_is_cut_in_front_of_what_tells_it_apart) {
  const std::string title = title_of_copy(std::string(title_bytes_max, 'x'), CopyKind::forked);
  EXPECT_EQ(title.size(), title_bytes_max);
  EXPECT_TRUE(title.ends_with("x (fork)"));
}

}  // namespace
}  // namespace perdure
