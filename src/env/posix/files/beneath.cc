#include "env/posix/files/beneath.h"

#include <climits>
#include <cstring>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "env/posix/confine/kernel_files.h"

namespace perdure::beneath {
namespace {

constexpr int links_followed_max = 40;  // the kernel's own number
constexpr int race_attempts_max = 16;

// openat2 returns EAGAIN if something was renamed while it resolved `..`.
int openat2_again(int folder, const char* path, const open_how& how) {
  for (int attempt = 1;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    if (errno == EINTR || (errno == EAGAIN && attempt < race_attempts_max)) continue;
    return -1;
  }
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) ::close(fd_);
}

Error error_of(int number, std::string_view subject) {
  const std::string name = escape_name(subject.empty() ? "." : subject);
  switch (number) {
    case ENOENT: return {Code::not_found, name + ": no such file or folder"};
    case EXDEV: return {Code::denied, name + ": leads out of the workspace"};
    case ELOOP: return {Code::denied, name + ": a symlink that may not be followed"};
    case EACCES:
    case EPERM:
    case EROFS: return {Code::denied, name + ": " + std::strerror(number)};
    case ENOTDIR: return {Code::conflict, name + ": not a folder"};
    case EISDIR: return {Code::conflict, name + ": is a folder"};
    case EEXIST: return {Code::conflict, name + ": is there already"};
    case ENOTEMPTY: return {Code::conflict, name + ": the folder is not empty"};
    case EBUSY:
    case ETXTBSY: return {Code::conflict, name + ": is in use"};
    case ENAMETOOLONG:
    case EINVAL: return {Code::invalid_argument, name + ": " + std::strerror(number)};
    case ENOSPC:
    case EDQUOT: return {Code::disk_full, name + ": no space is left in the workspace"};
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN: return {Code::unavailable, name + ": " + std::strerror(number)};
    default: return {Code::internal, name + ": " + std::strerror(number)};
  }
}

FileKind kind_of(std::uint32_t mode) {
  if (S_ISREG(mode)) return FileKind::file;
  if (S_ISDIR(mode)) return FileKind::folder;
  return S_ISLNK(mode) ? FileKind::symlink : FileKind::other;
}

FileStat stat_of(const struct stat& from) {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return {.kind = kind_of(from.st_mode),
          .mode = from.st_mode & 07777U,
          .version = {.modified_ns = from.st_mtim.tv_sec * ns_per_s + from.st_mtim.tv_nsec,
                      .bytes = static_cast<std::uint64_t>(from.st_size),
                      .inode = from.st_ino}};
}

Result<OwnedFd> open_root(const std::string& root) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  OwnedFd opened(openat2_again(AT_FDCWD, root.c_str(), how));
  if (opened.get() >= 0) {
    const std::string_view kernel = kernel_file_system(opened.get());
    if (kernel.empty()) return opened;
    return fail(Code::invalid_argument, "the workspace lies on " + std::string(kernel) +
                                            ", a file system of the kernel. Choose a folder of "
                                            "files");
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
    return fail(Code::workspace_missing, "the folder of the workspace is gone");
  }
  if (errno == ENOSYS)
    return fail(Code::unavailable,
                "openat2() is missing or forbidden: it needs Linux 5.6, and a service without "
                "RestrictSUIDSGID= and without a SystemCallFilter= that leaves it out");
  return std::unexpected(error_of(errno, root));
}

Result<OwnedFd> open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  if ((flags & O_PATH) == 0) how.flags |= O_NOCTTY | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  OwnedFd opened(openat2_again(root, path.empty() ? "." : path.c_str(), how));
  if (opened.get() < 0) return std::unexpected(error_of(errno, path));
  // It may be mounted in the workspace. With our rights it would reveal our own data.
  const std::string_view kernel = kernel_file_system(opened.get());
  if (kernel.empty()) return opened;
  return fail(Code::denied, escape_name(path) + ": lies on " + std::string(kernel) +
                                ", a file system of the kernel");
}

Result<OwnedFd> open_plain_file(int root, const std::string& path, int flags) {
  const OwnedFd look = TRY(open_beneath(root, path, O_PATH));
  struct stat seen{};
  if (::fstat(look.get(), &seen) != 0) return std::unexpected(error_of(errno, path));
  if (S_ISDIR(seen.st_mode)) return std::unexpected(error_of(EISDIR, path));
  if (!S_ISREG(seen.st_mode)) return fail(Code::conflict, escape_name(path) + ": not a plain file");
  OwnedFd file = TRY(open_beneath(root, path, flags));
  // It may have been swapped in between; O_NONBLOCK has kept a FIFO from blocking us.
  struct stat opened{};
  if (::fstat(file.get(), &opened) != 0) return std::unexpected(error_of(errno, path));
  if (!S_ISREG(opened.st_mode)) {
    return fail(Code::conflict, escape_name(path) + ": not a plain file");
  }
  return file;
}

Result<Place> place_of(int root, const TreePath& path) {
  if (path.is_root()) return fail(Code::conflict, "this is the workspace itself");
  OwnedFd folder = TRY(open_beneath(root, path.parent().bytes(), O_PATH | O_DIRECTORY));
  return Place{std::move(folder), std::string(path.name())};
}

// A symlink's text is relative to its folder. So the target's path is that folder's path plus the
// text, resolved as the kernel would, including `..` after a symlink.
Result<Place> place_followed(int root, const TreePath& path) {
  Place place = TRY(place_of(root, path));
  std::string folder_path = path.parent().bytes();
  for (int followed = 0;; ++followed) {
    char text[PATH_MAX];
    const ssize_t length = ::readlinkat(place.folder.get(), place.name.c_str(), text, sizeof text);
    if (length < 0 && (errno == EINVAL || errno == ENOENT)) return place;  // not a symlink
    if (length < 0) return std::unexpected(error_of(errno, path.bytes()));
    if (followed == links_followed_max) return std::unexpected(error_of(ELOOP, path.bytes()));
    const std::string_view target(text, static_cast<std::size_t>(length));
    if (target.starts_with('/')) return std::unexpected(error_of(EXDEV, path.bytes()));
    const std::size_t slash = target.rfind('/');
    const bool has_folder = slash != std::string_view::npos;
    place.name = target.substr(has_folder ? slash + 1 : 0);
    if (place.name.empty() || place.name == "." || place.name == "..") {
      return std::unexpected(error_of(EISDIR, path.bytes()));
    }
    if (has_folder) {
      if (!folder_path.empty()) folder_path += '/';
      folder_path += target.substr(0, slash);
      if (folder_path.size() >= PATH_MAX) return std::unexpected(error_of(ELOOP, path.bytes()));
      place.folder = TRY(open_beneath(root, folder_path, O_PATH | O_DIRECTORY));
    }
  }
}

}  // namespace perdure::beneath
