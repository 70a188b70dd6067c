// The parts of a repository that a container gets: the repository's own files cannot change that,
// and the container cannot leave a program for the host in it.
#include "daemon/setup/git_mounts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/setup/container_setup.h"
#include "env/posix/confine/own_folders.h"

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

TEST_F(GitMounts, SEC2_a_link_in_the_place_of_a_repository_is_not_mounted) {
  fs::create_directory(root_ + "/plain");
  spec_.workspace = {.cwd = root_ + "/plain"};
  fs::create_directory_symlink(git(), root_ + "/plain/.git");
  EXPECT_TRUE(mounts().empty());
}

// Whatever the container may write there later, git on the host reads none of it.
TEST_F(GitMounts, SEC19_what_leads_git_elsewhere_is_made_first_and_sealed) {
  fs::remove(git() + "/config");
  spec_.workspace = {.cwd = repo()};
  for (int i = 0; i < 2; ++i) {
    const auto all = mounts();
    for (const char* name : {"/commondir", "/config", "/config.worktree", "/modules", "/worktrees",
                             "/hooks", "/info"}) {
      EXPECT_EQ(how(all, git() + name), "ro") << name;
    }
  }
  for (const auto& entry : fs::directory_iterator(git())) {
    EXPECT_NE(entry.path().extension(), ".perdure");
  }
  // The repository is what it was.
  shell("cd " + repo() +
        " && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two "
        "&& git worktree add -q -b second " +
        root_ + "/second && git -C " + root_ +
        "/second status && git gc -q && test "
        "$(git rev-parse --path-format=absolute --git-common-dir) = " +
        git());
}

TEST_F(GitMounts, SEC19_a_folder_without_a_repository_cannot_get_one) {
  const std::string plain = repo() + "/sub/plain";
  fs::create_directories(plain);
  spec_.workspace = {.cwd = plain};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(how(mounts(), plain + "/.git"), "ro");
  EXPECT_EQ(mounts().size(), 1u);
  // To git it is not there.
  std::ofstream(plain + "/file") << "content";
  shell("cd " + plain + " && git add file && test $(git rev-parse --show-toplevel) = " + repo() +
        " && test $(git ls-files --full-name) = sub/plain/file");
  shell("cd " + plain + " && git init -q . && git rev-parse --show-toplevel");
  EXPECT_EQ(how(mounts(), plain + "/.git"), "rw") << "it has one now";
  EXPECT_EQ(how(mounts(), plain + "/.git/hooks"), "ro");
}

TEST_F(GitMounts, SEC19_a_repository_that_lies_elsewhere_in_the_folder_is_sealed_there) {
  const std::string folder = root_ + "/apart";
  const std::string store = folder + "/stores/one.git";
  fs::create_directories(folder + "/stores");
  shell("git init -q --separate-git-dir=" + store + " " + folder);
  spec_.workspace = {.cwd = folder};
  const auto all = mounts();
  EXPECT_EQ(how(all, folder + "/.git"), "ro");
  EXPECT_EQ(how(all, folder + "/stores"), "rw") << "as a mount of its own it cannot be renamed";
  EXPECT_EQ(how(all, store), "rw");
  for (const char* name : {"/hooks", "/config", "/commondir"}) {
    EXPECT_EQ(how(all, store + name), "ro") << name;
  }
  // One that lies elsewhere is none of the container's.
  std::ofstream(folder + "/.git") << "gitdir: " << git() << "\n";
  EXPECT_EQ(mounts().size(), 1u);
  // One without a folder of files.
  shell("git init -q --bare " + root_ + "/bare");
  spec_.workspace = {.cwd = root_ + "/bare"};
  for (const char* name : {"/hooks", "/config", "/commondir", "/.git"}) {
    EXPECT_EQ(how(mounts(), root_ + "/bare" + name), "ro") << name;
  }
}

TEST_F(GitMounts, SEC19_a_worktree_gets_no_submodule_of_its_own_from_inside) {
  EXPECT_EQ(how(mounts(), git() + "/worktrees/tree/modules"), "ro");
}

}  // namespace
}  // namespace perdure
