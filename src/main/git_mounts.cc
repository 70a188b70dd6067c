#include "main/git_mounts.h"

#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env_posix/fd.h"
#include "env_posix/own_folders.h"

namespace perdure {
namespace {

constexpr mode_t folder_mode = 0755;
constexpr mode_t file_mode = 0644;

mode_t kind_of(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

// Without any symlink in the path.
bool is_plain_folder(const std::string& path) {
  return kind_of(path) == S_IFDIR && real_path(path) == path;
}

class Mounts {
 public:
  // Paths below `real` appear below `seen`.
  Mounts(std::string real, std::string seen) : real_(std::move(real)), seen_(std::move(seen)) {}

  void writable(const std::string& path) { add(path, S_IFDIR, false); }
  void read_only(const std::string& path, mode_t kind) { add(path, kind, true); }
  // The container could create a missing folder, so it is created first, empty.
  void sealed_folder(const std::string& folder, const char* name) {
    const Fd at(open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at) mkdirat(at.get(), name, folder_mode);
    read_only(folder + "/" + name, S_IFDIR);
  }
  void sealed_file(const std::string& folder, const char* name) {
    const Fd at(open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at) {
      const Fd made(
          openat(at.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode));
    }
    read_only(folder + "/" + name, S_IFREG);
  }
  std::vector<ContainerMount> take() { return std::move(out_); }

 private:
  // A symlink is not mounted, because it could lead anywhere.
  void add(const std::string& path, mode_t kind, bool read_only) {
    if (kind_of(path) != kind) return;
    out_.push_back({path, seen_ + path.substr(real_.size()), read_only});
  }

  std::string real_;
  std::string seen_;
  std::vector<ContainerMount> out_;
};

}  // namespace

std::vector<ContainerMount> worktree_mounts(const MountedWorktree& worktree) {
  const std::string& git = worktree.git_folder;
  const std::string own =
      git + "/worktrees/" + std::filesystem::path(worktree.path).filename().string();
  if (git.empty() || !is_plain_folder(git) || !is_plain_folder(own)) return {};
  Mounts mounts("", "");
  mounts.read_only(git, S_IFDIR);
  mkdir((git + "/logs").c_str(), folder_mode);
  for (const char* const name : {"/objects", "/refs", "/logs", "/reftable"}) {
    mounts.writable(git + name);
  }
  mounts.writable(own);
  // With these the container could name another repository, or its own settings.
  mounts.read_only(own + "/commondir", S_IFREG);
  mounts.read_only(own + "/gitdir", S_IFREG);
  mounts.sealed_file(own, "config.worktree");
  mounts.read_only(worktree.path + "/.git", S_IFREG);
  return mounts.take();
}

std::vector<ContainerMount> folder_mounts(const std::string& folder) {
  const std::string real = real_path(folder);
  if (real.empty()) return {};
  const std::string git = real + "/.git";
  Mounts mounts(real, folder);
  if (kind_of(git) == S_IFREG) mounts.read_only(git, S_IFREG);
  if (!is_plain_folder(git)) return mounts.take();
  mounts.writable(git);
  mounts.sealed_folder(git, "hooks");
  mounts.sealed_folder(git, "info");
  mounts.read_only(git + "/config", S_IFREG);
  mounts.read_only(git + "/config.worktree", S_IFREG);
  mounts.read_only(git + "/modules", S_IFDIR);
  mounts.read_only(git + "/worktrees", S_IFDIR);
  return mounts.take();
}

}  // namespace perdure
