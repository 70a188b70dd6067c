// The parts of a repository that a container gets: the repository's own files cannot change that,
// and the container cannot leave a program for the host in it.
#include "main/git_mounts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>
#include <unistd.h>

#include "env_posix/own_folders.h"
#include "main/container_setup.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class GitMounts : public testing::Test {
 protected:
  GitMounts() {
    std::string name = testing::TempDir() + "perdure-mounts-XXXXXX";
    root_ = real_path(mkdtemp(name.data()));
    shell("git init -q -b main " + repo() + " && cd " + repo() +
          " && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && "
          "git worktree add -q -b topic " +
          tree());
    spec_.runtime = "local_docker";
    spec_.image = "image";
    spec_.workspace = {.cwd = tree(),
                       .worktree_id = "tree",
                       .worktree_path = tree(),
                       .worktree_branch = "topic",
                       .worktree_repository = git()};
  }
  ~GitMounts() override { fs::remove_all(root_); }

  static void shell(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::string repo() const { return root_ + "/repo"; }
  std::string git() const { return repo() + "/.git"; }
  std::string tree() const { return root_ + "/tree"; }
  std::vector<ContainerMount> mounts() const {
    return make_container_plan({settings_, agentctl_}, spec_, bootstrap_).mounts;
  }
  // How a path is mounted: "rw", "ro", or "no".
  static std::string how(const std::vector<ContainerMount>& mounts, const std::string& path) {
    const auto at = std::ranges::find(mounts, path, &ContainerMount::target);
    if (at == mounts.end()) return "no";
    return at->read_only ? "ro" : "rw";
  }

  std::string root_;
  ContainerSettings settings_;
  std::string agentctl_ = "/opt/perdure-agentctl";
  Bootstrap bootstrap_;
  LaunchSpec spec_;
};

TEST_F(GitMounts, SEC2_a_worktree_gets_what_a_commit_writes_and_no_hooks_or_configuration) {
  const auto all = mounts();
  const std::string own = git() + "/worktrees/tree";
  EXPECT_EQ(how(all, git()), "ro");
  for (const char* name : {"/objects", "/refs", "/logs"}) EXPECT_EQ(how(all, git() + name), "rw");
  EXPECT_EQ(how(all, own), "rw");
  for (const char* name : {"/commondir", "/gitdir", "/config.worktree"}) {
    EXPECT_EQ(how(all, own + name), "ro") << name;
  }
  EXPECT_EQ(how(all, tree() + "/.git"), "ro");
  for (const ContainerMount& mount : all) {
    if (mount.read_only) continue;
    for (const char* name : {"hooks", "config", "info/attributes", "modules"}) {
      const std::string planted = git() + "/" + name;
      EXPECT_FALSE(planted.starts_with(mount.source + "/")) << mount.source;
      EXPECT_NE(planted, mount.source);
    }
  }
}

TEST_F(GitMounts, SEC2_the_file_git_that_the_container_writes_changes_no_mount) {
  const auto before = mounts();
  const std::string victim = root_ + "/own/state/perdure";
  fs::create_directories(victim + "/x/y");
  std::ofstream(tree() + "/.git") << "gitdir: " << victim << "/x/y\n";
  EXPECT_EQ(mounts(), before);
  spec_.workspace.worktree_repository.clear();
  for (const ContainerMount& mount : mounts()) {
    EXPECT_TRUE(mount.source.starts_with(tree() + "/")) << mount.source;
    EXPECT_TRUE(mount.read_only);
  }
}

TEST_F(GitMounts, SEC2_a_repository_that_became_a_symlink_is_not_mounted) {
  const std::string victim = root_ + "/secret";
  fs::rename(git(), victim);
  fs::create_directory_symlink(victim, git());
  for (const ContainerMount& mount : mounts()) {
    EXPECT_TRUE(mount.source.starts_with(tree() + "/")) << mount.source;
  }
}

TEST_F(GitMounts, SEC2_a_symlink_in_the_repository_is_not_mounted) {
  fs::rename(git() + "/refs", root_ + "/refs");
  fs::create_directory_symlink(root_ + "/refs", git() + "/refs");
  EXPECT_EQ(how(mounts(), git() + "/refs"), "no");
}

TEST_F(GitMounts, SEC2_a_folder_with_a_repository_keeps_its_hooks_and_configuration) {
  fs::remove_all(git() + "/hooks");
  spec_.workspace = {.cwd = repo()};
  const auto all = mounts();
  EXPECT_EQ(how(all, git()), "rw") << "as a mount of its own it cannot be renamed";
  for (const char* name : {"/hooks", "/info", "/config", "/worktrees"}) {
    EXPECT_EQ(how(all, git() + name), "ro") << name;
  }
  // For a path with a symlink, the mounts are at the path that the container uses.
  fs::create_directory_symlink(repo(), root_ + "/link");
  spec_.workspace = {.cwd = root_ + "/link"};
  EXPECT_EQ(how(mounts(), root_ + "/link/.git/hooks"), "ro");
  EXPECT_EQ(mounts().front().source, git());
}

TEST_F(GitMounts, SEC2_a_folder_without_a_repository_gets_no_mount) {
  fs::create_directory(root_ + "/plain");
  spec_.workspace = {.cwd = root_ + "/plain"};
  EXPECT_TRUE(mounts().empty());
  fs::create_directory_symlink(git(), root_ + "/plain/.git");
  EXPECT_TRUE(mounts().empty());
}

}  // namespace
}  // namespace perdure
