#include "daemon/setup/git_mounts.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/result.h"
#include "env/posix/confine/own_folders.h"
#include "env/posix/files/fd.h"

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

// Whole or not at all: git refuses to work with an empty `commondir`. One that is there stays.
void make_file(const Fd& folder, const char* name, std::string_view text) {
  const std::string fresh = std::string(name) + ".perdure";
  unlinkat(folder.get(), fresh.c_str(), 0);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Fd file(openat(folder.get(), fresh.c_str(), flags, file_mode));
  if (!file) return;
  const auto size = static_cast<ssize_t>(text.size());
  if (write(file.get(), text.data(), text.size()) == size) {
    (void)linkat(folder.get(), fresh.c_str(), folder.get(), name, 0);
  }
  unlinkat(folder.get(), fresh.c_str(), 0);
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
  void sealed_file(const std::string& folder, const char* name, std::string_view text = {}) {
    const Fd at(open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at) make_file(at, name, text);
    read_only(folder + "/" + name, S_IFREG);
  }
  // Each folder of the way there is one that cannot be renamed from inside.
  void pinned(const std::string& path) {
    for (std::size_t end = real_.size(); end != std::string::npos && end < path.size();) {
      end = std::min(path.find('/', end + 1), path.size());
      writable(path.substr(0, end));
    }
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

// What makes git run programs, or read them or its settings somewhere else. With `.` a repository
// is its own common one, as it is without the file.
void seal_repository(Mounts& mounts, const std::string& git) {
  for (const char* const name : {"hooks", "info", "modules", "worktrees"}) {
    mounts.sealed_folder(git, name);
  }
  for (const char* const name : {"config", "config.worktree"}) mounts.sealed_file(git, name);
  mounts.sealed_file(git, "commondir", ".\n");
}

bool is_repository(const std::string& git) { return kind_of(git + "/HEAD") != 0; }

// Where the file `.git` says that the repository is, if that is in this folder; else empty.
std::string repository_within(const std::string& folder) {
  const Result<std::string> text = read_small_file(folder + "/.git");
  constexpr std::string_view prefix = "gitdir: ";
  if (!text || !text->starts_with(prefix)) return {};
  const std::string named = text->substr(prefix.size(), text->find('\n') - prefix.size());
  const std::string real = real_path(named.starts_with('/') ? named : folder + "/" + named);
  return real.starts_with(folder + "/") ? real : "";
}

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
  mounts.sealed_folder(own, "modules");
  mounts.read_only(worktree.path + "/.git", S_IFREG);
  return mounts.take();
}

std::vector<ContainerMount> folder_mounts(const std::string& folder) {
  const std::string real = real_path(folder);
  if (real.empty()) return {};
  const std::string git = real + "/.git";
  Mounts mounts(real, folder);
  if (kind_of(git) == S_IFREG) {
    mounts.read_only(git, S_IFREG);
    const std::string within = repository_within(real);
    if (within.empty() || !is_repository(within)) return mounts.take();
    mounts.pinned(within);
    seal_repository(mounts, within);
  } else if (is_plain_folder(git) && is_repository(git)) {
    mounts.writable(git);
    seal_repository(mounts, git);
  } else {
    mounts.sealed_folder(real, ".git");
    if (is_repository(real)) seal_repository(mounts, real);  // without a folder of files
  }
  return mounts.take();
}

}  // namespace perdure
