// Worktrees: created below their home, and removed only if nothing is lost with them.
#include "fixture.h"

namespace perdure::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Test;

class WorkspaceWorktrees : public WorkspaceFixture {
 protected:
  void SetUp() override {
    WorkspaceFixture::SetUp();
    make_repository();
    done("git.worktree_add", R"({"path":"task/one","branch":"task-one","base":"main"})");
    tree_ = base_ / "trees/task/one";
    ASSERT_TRUE(fs::exists(tree_ / "a.txt"));
  }
  // Why it is not removed; empty if it was.
  std::string why_not() {
    const auto result = call("git.worktree_remove", R"({"path":"task/one"})");
    if (result) return "";
    EXPECT_EQ(result.error().code(), Code::conflict);
    EXPECT_TRUE(fs::exists(tree_));
    return result.error().message();
  }
  void in_tree(std::string_view command) { sh(command, "../trees/task/one"); }

  fs::path tree_;
};

TEST_F(WorkspaceWorktrees, a_clean_one_is_removed) {
  const std::string list = done("git.worktree_list");
  EXPECT_EQ(at(list, "worktrees.0.branch"), "main");
  EXPECT_EQ(at(list, "worktrees.1.path"), "task/one");
  EXPECT_EQ(at(list, "worktrees.1.branch"), "task-one");
  EXPECT_EQ(why_not(), "");
  EXPECT_FALSE(fs::exists(tree_));
  EXPECT_EQ(at(done("git.worktree_list"), "worktrees.1"), "no element 1");
}

TEST_F(WorkspaceWorktrees, a_dirty_one_stays) {
  put(tree_ / "a.txt", "changed");
  EXPECT_EQ(why_not(), "not removed: 1 changed file (a.txt)");
  in_tree("git add a.txt");
  EXPECT_EQ(why_not(), "not removed: 1 changed file (a.txt)");
}

TEST_F(WorkspaceWorktrees, untracked_files_keep_it) {
  for (const auto* name : {"u1", "u2", "u3", "u4"}) put(tree_ / name, "x");
  EXPECT_EQ(why_not(), "not removed: 4 untracked files (u1, u2, u3, …)");
}

TEST_F(WorkspaceWorktrees, commits_that_are_nowhere_else_keep_it) {
  in_tree("git commit -q --allow-empty -m x && git commit -q --allow-empty -m y");
  EXPECT_EQ(why_not(),
            "not removed: 2 commits of branch task-one on no remote and on no other branch");
  sh("git branch keep task-one~1");
  EXPECT_EQ(why_not(),
            "not removed: 1 commit of branch task-one on no remote and on no other branch");
  put(tree_ / "a.txt", "both reasons are told");
  EXPECT_NE(why_not().find("1 changed file (a.txt); 1 commit"), std::string::npos);
  in_tree("git checkout -q a.txt");
  sh("git clone -q --bare . ../remote && git remote add up ../remote && "
     "git push -q up task-one");
  EXPECT_EQ(why_not(), "");
}

TEST_F(WorkspaceWorktrees, another_branch_with_the_commits_suffices) {
  in_tree("git commit -q --allow-empty -m x");
  sh("git branch task-one-copy task-one");
  EXPECT_EQ(why_not(), "");
}

TEST_F(WorkspaceWorktrees, a_detached_head_with_commits_keeps_it) {
  in_tree("git checkout -q --detach && git commit -q --allow-empty -m x");
  EXPECT_EQ(why_not(),
            "not removed: 1 commit of the detached head on no remote and on no other branch");
}

TEST_F(WorkspaceWorktrees, an_unfinished_merge_keeps_it) {
  sh("git checkout -q -b side && git commit -q --allow-empty -m s && git checkout -q main");
  in_tree(
      "git commit -q --allow-empty -m t && git branch other && "
      "git merge -q --no-commit --no-ff side");
  EXPECT_EQ(why_not(), "not removed: an unfinished merge");
}

TEST_F(WorkspaceWorktrees, a_locked_one_and_the_main_one_stay) {
  sh("git worktree lock ../trees/task/one");
  EXPECT_EQ(why_not(), "not removed: the worktree is locked");
  EXPECT_EQ(refused("git.worktree_remove", R"({"path":"none"})").code(), Code::not_found);
  EXPECT_EQ(refused("git.worktree_remove", R"({"path":"../../root"})").code(),
            Code::invalid_argument);
  EXPECT_EQ(refused("git.worktree_remove", R"({"path":""})").code(), Code::not_found);
}

TEST_F(WorkspaceWorktrees, are_made_below_their_home_only) {
  fs::create_directory_symlink("/tmp", base_ / "trees/out");
  for (const auto* params :
       {R"({"path":"../x","branch":"b","base":"main"})",
        R"({"path":"/tmp/x","branch":"b","base":"main"})", R"({"path":"","branch":"b"})",
        R"({"path":"x","branch":"--force"})", R"({"path":"x","branch":""})",
        R"({"path":"x","branch":"b","base":"--lock"})"}) {
    EXPECT_EQ(refused("git.worktree_add", params).code(), Code::invalid_argument) << params;
  }
  EXPECT_EQ(refused("git.worktree_add", R"({"path":"out/x","branch":"b","base":"main"})").code(),
            Code::conflict);
  EXPECT_EQ(refused("git.worktree_add", R"({"path":"task/one","branch":"b","base":"main"})").code(),
            Code::conflict);
  EXPECT_EQ(refused("git.worktree_add", R"({"path":"x","branch":"task-one"})").code(),
            Code::conflict);  // checked out elsewhere
  EXPECT_FALSE(fs::exists(base_ / "trees/x"));
  sh("git branch existing");
  EXPECT_EQ(at(done("git.worktree_add", R"({"path":"x","branch":"existing"})"), "branch"),
            "existing");
}

}  // namespace
}  // namespace perdure::test
