// The system calls of file_tree.cc that walk paths: each starts at an open folder and stays beneath
// it. Descriptors are owned; errors carry stable codes.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "env/file_tree.h"

struct stat;  // from sys/stat.h

namespace perdure::beneath {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedFd();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// The error of a system call about `subject`, for this errno.
Error error_of(int number, std::string_view subject);

FileKind kind_of(std::uint32_t mode);
FileStat stat_of(const struct stat& from);

// Opens the root, which must be canonical: its path contains no symlink. invalid_argument: it is on
// a file system of the kernel.
Result<OwnedFd> open_root(const std::string& root);
// Opens the path's target. denied: the target is on a file system of the kernel. `flags` of
// open(2); O_CLOEXEC, O_NOCTTY and O_NONBLOCK are added.
Result<OwnedFd> open_beneath(int root, const std::string& path, int flags);
// Opens a plain file for reading or writing. Checks the type first, so that a FIFO or device is
// never opened. conflict: it is something else.
Result<OwnedFd> open_plain_file(int root, const std::string& path, int flags);

// A name in an open folder; the name is not a symlink, or does not exist.
struct Place {
  OwnedFd folder;
  std::string name;
};
// The place of the path's last component, which is not followed.
Result<Place> place_of(int root, const TreePath& path);
// The same, but follows a symlink at the end to its target, existing or not.
Result<Place> place_followed(int root, const TreePath& path);

}  // namespace perdure::beneath
