// An order for a worktree: names that git would misinterpret are rejected where git runs.
#include "core/wire/agentctl/worktree.h"

#include <gtest/gtest.h>

#include "core/wire/agentctl/git_name.h"

namespace perdure {
namespace {

WorktreeRequest order(std::string branch) {
  return {.session = SessionId(Ulid{1, 2}),
          .repository = "/repo",
          .path = "/data/worktrees/one",
          .branch = std::move(branch)};
}

TEST(Worktree, an_order_reads_as_it_was_written) {
  const auto read = decode_worktree_request(encode_worktree_request(order("perdure/one")));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->branch, "perdure/one");
  EXPECT_EQ(read->path, "/data/worktrees/one");
}

TEST(Worktree, a_branch_that_git_would_take_for_an_option_is_refused) {
  for (const std::string branch : {"-D", "--edit-description", "-", "a\nb"}) {
    const auto read = decode_worktree_request(encode_worktree_request(order(branch)));
    ASSERT_FALSE(read) << branch;
    EXPECT_EQ(read.error().code(), Code::invalid_argument) << branch;
  }
}

TEST(Worktree, a_name_for_git_is_no_option_and_of_bounded_length) {
  EXPECT_EQ(checked_git_name("feature/-x").value_or(""), "feature/-x");
  EXPECT_TRUE(checked_git_name("größe"));
  EXPECT_TRUE(checked_git_name(std::string(512, 'a')));
  for (const std::string& name :
       {std::string(), std::string("-x"), std::string("a\0b", 3), std::string(513, 'a')}) {
    EXPECT_FALSE(checked_git_name(name)) << name;
  }
}

}  // namespace
}  // namespace perdure
