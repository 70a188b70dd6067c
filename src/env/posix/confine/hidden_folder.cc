// Uses descriptors throughout: the user owns the folders above and may change the target of a path
// between two checks.
#include "env/posix/confine/hidden_folder.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "env/posix/files/fd.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

// These errors mean that a machine does not offer mounts to users; others may be temporary.
Result<> refused(const std::string& what) {
  const int why = errno;
  const bool is_nature = why == EPERM || why == EACCES || why == ENOSYS || why == EINVAL;
  return fail(is_nature ? Code::unavailable : Code::limit_reached,
              what + ": " + std::strerror(why));
}

std::unexpected<Error> failed(const std::string& what) {
  return std::unexpected(refused(what).error());
}

std::string path_of(const Fd& descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor.get());
}

Result<Fd> open_folder(const std::string& path) {
  Fd folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return failed(path);
  return folder;
}

// Refuses symlinks anywhere in the path.
Result<Fd> open_within(const Fd& root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  Fd folder(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
  if (!folder) return failed(path);
  return folder;
}

Result<> attach(const Fd& tree, const Fd& at, const std::string& what) {
  if (move_mount(tree.get(), "", at.get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) !=
      0) {
    return refused(what);
  }
  return {};
}

// A copy of the mounts at and below that folder, not attached yet.
Result<Fd> copy_of(const Fd& folder, const std::string& what) {
  Fd tree(open_tree(folder.get(), "",
                    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE));
  if (!tree) return failed(what);
  return tree;
}

// The kernel locks the flags of mounts that came from another user namespace, so they are
// preserved. Connecting to a socket in there still works.
Result<> seal(const Fd& root, const std::string& what) {
  struct statvfs mounted{};
  if (fstatvfs(root.get(), &mounted) != 0) return refused(what);
  const unsigned long kept = mounted.f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC);
  if (mount(nullptr, path_of(root).c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kept,
            nullptr) != 0) {
    return refused(what);
  }
  return {};
}

// Covers the folder with an empty one, and returns the root of that.
Result<Fd> cover(const Fd& folder, const std::string& path) {
  const std::string what = "cover " + path;
  const Fd made(fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!made || fsconfig(made.get(), FSCONFIG_SET_STRING, "source", "perdure", 0) != 0 ||
      fsconfig(made.get(), FSCONFIG_SET_STRING, "size", "64k", 0) != 0 ||
      fsconfig(made.get(), FSCONFIG_SET_STRING, "mode", "0700", 0) != 0 ||
      fsconfig(made.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return failed(what);
  }
  Fd root(fsmount(made.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  if (!root) return failed(what);
  TRY_VOID(attach(root, folder, what));
  return root;
}

// Whether our user can rename what is in it, now or after a chmod.
bool is_ours(const fs::path& folder) {
  struct stat status{};
  return stat(folder.c_str(), &status) != 0 || status.st_uid == geteuid() ||
         access(folder.c_str(), W_OK) == 0;
}

// A mount point cannot be moved, nor unmounted by a process that sees it in another namespace. Root
// could do both.
Result<> pin_folders_above(const std::string& path) {
  if (geteuid() == 0) return {};
  fs::path above;
  for (const fs::path& part : fs::path(path).parent_path()) {
    const fs::path folder = above / part;
    if (!above.empty() && is_ours(above)) {
      const Fd opened = TRY(open_folder(folder));
      TRY_VOID(attach(TRY(copy_of(opened, folder)), opened, "pin " + folder.string()));
    }
    above = folder;
  }
  return {};
}

// All mounts there, at once.
Result<> seal_tree(const Fd& tree, const std::string& what) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) !=
      0) {
    return refused(what);
  }
  return {};
}

// The part of a path below the hidden folder.
std::string within(const HiddenFolder& hidden, const std::string& path) {
  return path.substr(hidden.folder.size() + 1);
}

Result<> show_again(const Fd& root, const Fd& folder, const std::string& inner) {
  std::error_code error;
  fs::create_directories(path_of(root) + "/" + inner, error);
  if (error) return fail(Code::limit_reached, inner + ": " + error.message());
  const Fd at = TRY(open_within(root, inner));
  return attach(TRY(copy_of(folder, inner)), at, "show " + inner);
}

}  // namespace

Result<> seal_control_groups() {
  const char* const path = "/sys/fs/cgroup";
  const Fd groups(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!groups && errno == ENOENT) return {};
  if (!groups) return refused(path);
  // A copy covers the old mounts, which remain unchanged for open descriptors.
  const Fd tree = TRY(copy_of(groups, path));
  if (!seal_tree(tree, path)) {
    // Before Linux 5.12 they are hidden instead.
    return seal(TRY(cover(groups, path)), path);
  }
  return attach(tree, groups, path);
}

std::string folder_identity(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !S_ISDIR(status.st_mode)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%" PRIx64 ".%" PRIx64, std::uint64_t{status.st_dev},
                std::uint64_t{status.st_ino});
  return text;
}

Result<> hide_folder(const HiddenFolder& hidden) {
  TRY_VOID(pin_folders_above(hidden.folder));
  const Fd folder = TRY(open_folder(hidden.folder));
  if (!hidden.identity.empty() && folder_identity(folder.get()) != hidden.identity) {
    return fail(Code::conflict, hidden.folder +
                                    " is not the folder that Perdure opened: it was "
                                    "moved, or another one took its place");
  }
  // Visible parts are opened before they are covered.
  std::vector<std::pair<std::string, Fd>> shown;
  for (const auto* const paths : {&hidden.show, &hidden.sealed}) {
    for (const std::string& path : *paths) {
      const std::string inner = within(hidden, path);
      shown.emplace_back(inner, TRY(open_within(folder, inner)));
    }
  }
  const Fd root = TRY(cover(folder, hidden.folder));
  for (const auto& [inner, opened] : shown) TRY_VOID(show_again(root, opened, inner));
  for (const std::string& path : hidden.sealed) {
    TRY_VOID(seal(TRY(open_within(root, within(hidden, path))), "seal " + path));
  }
  for (const std::string& path : hidden.hide) {
    const Fd covered = TRY(cover(TRY(open_within(root, within(hidden, path))), path));
    TRY_VOID(seal(covered, "seal " + path));
  }
  return seal(root, "seal " + hidden.folder);
}

}  // namespace perdure
