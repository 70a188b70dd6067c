// The calls git.* on real repositories created here.
#include "fixture.h"

namespace perdure::test {
namespace {

namespace fs = std::filesystem;

class WorkspaceGit : public WorkspaceFixture {
 protected:
  void SetUp() override {
    WorkspaceFixture::SetUp();
    make_repository();
  }
  // The status of one file: "staged/unstaged", or empty if it is not listed.
  std::string status_of(std::string_view path) {
    const std::string status = done("git.status", R"({"untracked":"all"})");
    const std::string files = at(status, "files");
    for (const auto file : json_elements(files).value()) {
      if (at(file, "path") == path) return at(file, "staged") + "/" + at(file, "unstaged");
    }
    return "";
  }
};

TEST_F(WorkspaceGit, L20_status_tells_branch_and_files) {
  put(root_ / "a.txt", "one\n2\nthree\n");
  put(root_ / "new\xff name", "x");
  put(root_ / "moved from", "0\n1\n2\n3\n4\n5\n6\n7\n");
  sh("git add -- \"moved from\" && git commit -q -m second && git mv \"moved from\" to");
  const std::string status = done("git.status");
  EXPECT_EQ(at(status, "branch.name"), "main");
  EXPECT_EQ(at(status, "branch.oid").size(), 40U);
  EXPECT_EQ(at(status, "branch.ahead"), "null");
  EXPECT_EQ(at(status, "files.0.path"), "a.txt");
  EXPECT_EQ(at(status, "files.0.staged"), "none");
  EXPECT_EQ(at(status, "files.0.unstaged"), "modified");
  EXPECT_EQ(at(status, "files.1.path"), "to");
  EXPECT_EQ(at(status, "files.1.from"), "moved from");
  EXPECT_EQ(at(status, "files.1.staged"), "renamed");
  EXPECT_EQ(at(status, "files.2.path"), "new\\xff name");
  EXPECT_EQ(at(status, "files.2.unstaged"), "untracked");
}

TEST_F(WorkspaceGit, status_tells_upstream_conflicts_and_detachment) {
  sh("git clone -q . ../clone && git remote add up ../clone && git fetch -q up && "
     "git branch -q -u up/main && git commit -q --allow-empty -m more");
  std::string status = done("git.status");
  EXPECT_EQ(at(status, "branch.upstream"), "up/main");
  EXPECT_EQ(at(status, "branch.ahead"), "1");
  EXPECT_EQ(at(status, "branch.behind"), "0");
  sh("git checkout -q -b side && echo side > a.txt && git commit -q -a -m side && "
     "git checkout -q main && echo main > a.txt && git commit -q -a -m main && "
     "(git merge -q side || true)");
  status = done("git.status");
  EXPECT_EQ(at(status, "files.0.conflict"), "both_modified");
  EXPECT_EQ(at(status, "files.0.staged"), "conflicted");
  sh("git merge --abort && git checkout -q --detach");
  status = done("git.status");
  EXPECT_EQ(at(status, "branch.detached"), "true");
  EXPECT_EQ(at(status, "branch.name"), "");
}

TEST_F(WorkspaceGit, no_repository_is_said_plainly) {
  fs::remove_all(root_ / ".git");
  for (const auto* method : {"git.status", "git.diff", "git.log", "git.worktree_list"}) {
    EXPECT_EQ(refused(method).code(), Code::not_found) << method;
  }
  EXPECT_EQ(refused("git.stage", R"({"paths":["a.txt"]})").code(), Code::not_found);
  EXPECT_EQ(refused("git.commit", R"({"message":"m"})").code(), Code::not_found);
}

TEST_F(WorkspaceGit, stages_unstages_and_commits) {
  put(root_ / "a.txt", "changed\n");
  put(root_ / "*", "a name that is a pattern");
  put(root_ / "b", "b");
  done("git.stage", R"({"paths":["*"]})");
  EXPECT_EQ(status_of("*"), "added/none");
  EXPECT_EQ(status_of("b"), "none/untracked");  // the star was a name, not a pattern
  done("git.unstage", R"({"paths":["*"]})");
  EXPECT_EQ(status_of("*"), "none/untracked");
  EXPECT_EQ(refused("git.commit", R"({"message":"nothing"})").code(), Code::conflict);
  fs::remove(root_ / "*");
  done("git.stage", R"({"paths":[""]})");
  const std::string commit = done("git.commit", R"({"message":"second\n\nwhy"})");
  EXPECT_EQ(at(commit, "subject"), "second");
  EXPECT_EQ(at(commit, "body"), "why");
  EXPECT_EQ(at(commit, "author"), "A");
  EXPECT_EQ(at(done("git.status"), "files"), "[]");
  fs::remove(root_ / "b");
  done("git.stage", R"({"paths":["b"]})");
  EXPECT_EQ(status_of("b"), "deleted/none");
  EXPECT_EQ(refused("git.stage", R"({"paths":["none"]})").code(), Code::conflict);
  EXPECT_EQ(refused("git.stage", R"({"paths":["../x"]})").code(), Code::invalid_argument);
  EXPECT_EQ(refused("git.stage", R"({"paths":[]})").code(), Code::invalid_argument);
  const std::string amended = done("git.commit", R"({"message":"again","amend":true})");
  EXPECT_EQ(at(amended, "subject"), "again");
  EXPECT_EQ(at(amended, "parents.1"), "no element 1");
}

TEST_F(WorkspaceGit, a_first_commit_can_be_staged_and_unstaged) {
  fs::remove_all(root_ / ".git");
  sh("git init -q -b main .");
  EXPECT_EQ(at(done("git.status"), "branch.oid"), "");
  done("git.stage", R"({"paths":["a.txt"]})");
  done("git.unstage", R"({"paths":["a.txt"]})");
  EXPECT_EQ(status_of("a.txt"), "none/untracked");
  done("git.stage", R"({"paths":["a.txt"]})");
  done("git.commit", R"({"message":"first"})");
}

TEST_F(WorkspaceGit, commit_hooks_are_the_users_and_may_refuse) {
  put(root_ / ".git/hooks/pre-commit", "#!/bin/sh\necho not today >&2\nexit 1\n");
  fs::permissions(root_ / ".git/hooks/pre-commit", fs::perms(0755));
  put(root_ / "a.txt", "x");
  done("git.stage", R"({"paths":["a.txt"]})");
  const Error error = refused("git.commit", R"({"message":"m"})");
  EXPECT_EQ(error.code(), Code::conflict);
  EXPECT_EQ(error.message(), "not today");
}

TEST_F(WorkspaceGit, diffs_have_numbers_and_text) {
  put(root_ / "a.txt", "one\n2\nthree\nfour\n");
  put(root_ / "bin", std::string("\0\1", 2));
  done("git.stage", R"({"paths":["bin"]})");
  const std::string unstaged = done("git.diff");
  EXPECT_EQ(at(unstaged, "files.0.path"), "a.txt");
  EXPECT_EQ(at(unstaged, "files.0.added"), "2");
  EXPECT_EQ(at(unstaged, "files.0.removed"), "1");
  EXPECT_NE(at(unstaged, "text").find("\n-two\n+2\n three\n+four\n"), std::string::npos);
  const std::string staged = done("git.diff", R"({"of":"staged"})");
  EXPECT_EQ(at(staged, "files.0.path"), "bin");
  EXPECT_EQ(at(staged, "files.0.binary"), "true");
  const std::string since = done("git.diff", R"({"of":"since","commit":"HEAD"})");
  EXPECT_EQ(at(since, "files.1.path"), "bin");
  const std::string one = done("git.diff", R"({"of":"since","commit":"HEAD","paths":["bin"]})");
  EXPECT_EQ(at(one, "files.1"), "no element 1");
  EXPECT_EQ(at(done("git.diff", R"({"paths":["none"]})"), "files"), "[]");
}

TEST_F(WorkspaceGit, a_revision_is_never_an_option) {
  for (const auto* revision : {"--output=x", "-p", "", "a\\u0000b", "a\\nb"}) {
    const std::string text = revision;
    EXPECT_EQ(refused("git.diff", R"({"of":"since","commit":")" + text + "\"}").code(),
              Code::invalid_argument);
    EXPECT_EQ(refused("git.show", R"({"commit":")" + text + "\"}").code(), Code::invalid_argument);
  }
  EXPECT_EQ(refused("git.show", R"({"commit":"nowhere"})").code(), Code::conflict);
  EXPECT_FALSE(fs::exists(root_ / "x"));
}

TEST_F(WorkspaceGit, a_long_diff_is_cut_and_says_so) {
  std::string lines;
  for (int i = 0; i < 700'000; ++i) lines += "line " + std::to_string(i) + "\n";
  put(root_ / "a.txt", lines);
  const std::string diff = done("git.diff");
  EXPECT_EQ(at(diff, "cut"), "true");
  EXPECT_EQ(at(diff, "files.0.path"), "a.txt");
}

TEST_F(WorkspaceGit, log_and_show_tell_commits) {
  sh("printf 1 > b && git add b && git commit -q -m \"second: subject\" -m \"body 1\" -m end && "
     "git tag v1");
  const std::string log = done("git.log");
  EXPECT_EQ(at(log, "commits.0.subject"), "second: subject");
  EXPECT_EQ(at(log, "commits.0.body"), "body 1\n\nend");
  EXPECT_EQ(at(log, "commits.0.parents.0"), at(log, "commits.1.oid"));
  EXPECT_EQ(at(log, "commits.1.parents"), "[]");
  EXPECT_EQ(at(log, "more"), "false");
  EXPECT_EQ(at(log, "commits.0.refs"), "HEAD -> main, tag: v1");
  EXPECT_EQ(at(done("git.log", R"({"max":1})"), "more"), "true");
  EXPECT_EQ(at(done("git.log", R"({"max":1,"skip":1})"), "commits.0.subject"), "first");
  EXPECT_EQ(at(done("git.log", R"({"path":"a.txt"})"), "commits.0.subject"), "first");
  const std::string show = done("git.show", R"({"commit":"v1"})");
  EXPECT_EQ(at(show, "files.0.path"), "b");
  EXPECT_EQ(at(show, "oid"), at(log, "commits.0.oid"));
  EXPECT_NE(at(show, "text").find("+1"), std::string::npos);
  EXPECT_EQ(at(done("git.show", R"({"commit":"v1~1"})"), "files.0.added"), "3");
}

TEST_F(WorkspaceGit, a_merge_is_shown_against_its_first_parent) {
  sh("git checkout -q -b side && printf s > s && git add s && git commit -q -m side && "
     "git checkout -q main && printf m > m && git add m && git commit -q -m main && "
     "git merge -q -m merged side");
  const std::string show = done("git.show", R"({"commit":"HEAD"})");
  EXPECT_EQ(at(show, "files.0.path"), "s");
  EXPECT_EQ(at(show, "files.1"), "no element 1");
}

TEST_F(WorkspaceGit, a_workspace_inside_a_repository_sees_its_own_part) {
  fs::create_directories(root_ / "sub");
  put(root_ / "sub/x", "x\n");
  sh("git add sub && git commit -q -m sub");
  put(root_ / "sub/x", "y\n");
  put(root_ / "a.txt", "outside of the workspace\n");
  serve(root_ / "sub");
  const std::string status = done("git.status");
  EXPECT_EQ(at(status, "files.0.path"), "x");
  EXPECT_EQ(at(status, "files.1"), "no element 1");
  const std::string diff = done("git.diff");
  EXPECT_EQ(at(diff, "files.0.path"), "x");
  EXPECT_EQ(at(diff, "files.1"), "no element 1");
  EXPECT_EQ(at(done("git.log", R"({"path":"x"})"), "commits.0.subject"), "sub");
}

}  // namespace
}  // namespace perdure::test
