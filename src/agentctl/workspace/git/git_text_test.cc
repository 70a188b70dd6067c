// Parses git's output: real samples, output cut at every place, and arbitrary bytes.
#include "agentctl/workspace/git/git_text.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

using namespace std::string_literals;

const std::string status_sample =
    "# branch.oid 0123\0# branch.head main\0# branch.upstream up/main\0# branch.ab +3 -14\0"
    "1 .M N... 100644 100644 100644 aa bb a file\0"
    "2 R. N... 100644 100644 100644 aa bb R100 to name\0from name\0"
    "u UU N... 100644 100644 100644 100644 aa bb cc both\0"
    "? new\0! ignored\0"s;

TEST(GitText, status_is_read_whole) {
  const GitStatus status = parse_git_status(status_sample);
  EXPECT_EQ(status.oid, "0123");
  EXPECT_EQ(status.branch, "main");
  EXPECT_EQ(status.upstream, "up/main");
  EXPECT_EQ(status.ahead, 3);
  EXPECT_EQ(status.behind, 14);
  ASSERT_EQ(status.files.size(), 5U);
  EXPECT_EQ(status.files[0].path, "a file");
  EXPECT_EQ(status.files[0].unstaged, GitChange::modified);
  EXPECT_EQ(status.files[1].path, "to name");
  EXPECT_EQ(status.files[1].from, "from name");
  EXPECT_EQ(status.files[2].conflict, "both_modified");
  EXPECT_EQ(status.files[3].unstaged, GitChange::untracked);
  EXPECT_EQ(status.files[4].unstaged, GitChange::ignored);
}

TEST(GitText, a_cut_status_has_whole_entries_only) {
  const auto all = parse_git_status(status_sample).files;
  for (std::size_t length = 0; length < status_sample.size(); ++length) {
    const auto some = parse_git_status(std::string_view(status_sample).substr(0, length)).files;
    ASSERT_LE(some.size(), all.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(some[i].path, all[i].path);
      EXPECT_EQ(some[i].from, all[i].from);
    }
  }
}

TEST(GitText, diff_numbers_and_text_are_told_apart) {
  const std::string sample =
      "1\t2\ta\0-\t-\tbin\0"
      "3\t0\t\0from\0to\0\0diff --git\n+x\n"s;
  const GitDiff diff = parse_git_diff(sample);
  ASSERT_EQ(diff.files.size(), 3U);
  EXPECT_EQ(diff.files[0].added, 1);
  EXPECT_EQ(diff.files[1].added, std::nullopt);
  EXPECT_EQ(diff.files[2].from, "from");
  EXPECT_EQ(diff.files[2].path, "to");
  EXPECT_EQ(diff.text, "diff --git\n+x\n");
}

TEST(GitText, worktrees_and_filters) {
  const auto trees = parse_git_worktrees(
      "worktree /r\nHEAD 12\nbranch refs/heads/feature/x\n\n"
      "worktree /w\nHEAD 34\ndetached\nlocked why\n\nworktree /b\nbare\nprunable gone\n\n");
  ASSERT_EQ(trees.size(), 3U);
  EXPECT_EQ(trees[0].branch, "feature/x");
  EXPECT_TRUE(trees[1].locked && trees[1].branch.empty());
  EXPECT_TRUE(trees[2].bare && trees[2].prunable);
  const auto filters = parse_git_local_filters(
      "global\0filter.lfs.clean\0local\0filter.a.b.clean\0local\0filter.a.b.smudge\0"
      "worktree\0filter.w.process\0local\0core.bare\0local\0filter.x\0"s);
  EXPECT_EQ(filters, (std::vector<std::string>{"a.b", "w"}));
}

RC_GTEST_PROP(GitText, any_bytes_are_read_without_harm, (const std::string& bytes)) {
  for (const std::string& text : {bytes, status_sample.substr(0, bytes.size()) + bytes}) {
    (void)parse_git_status(text);
    (void)parse_git_diff(text);
    (void)parse_git_log(text);
    (void)parse_git_worktrees(text);
    (void)parse_git_local_filters(text);
  }
}

}  // namespace
}  // namespace perdure
