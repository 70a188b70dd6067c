// The few system calls of file_tree.cc that walk paths: each starts at an open folder and stays
// beneath it. Descriptors are owned; errors carry stable codes.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "env/file_tree.h"

struct stat;  // of sys/stat.h

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

// The error of a system call about `subject`, by errno's number.
Error error_of(int number, std::string_view subject);

FileKind kind_of(std::uint32_t mode);
FileStat stat_of(const struct stat& from);

// The root, which is canonical: no symlink may be in its path. invalid_argument: it lies on a file
// system of the kernel.
Result<OwnedFd> open_root(const std::string& root);
// Opens what the path leads to. denied: that lies on a file system of the kernel. `flags` of
// open(2); O_CLOEXEC, O_NOCTTY and O_NONBLOCK are added.
Result<OwnedFd> open_beneath(int root, const std::string& path, int flags);
// A plain file for reading or writing: looked at before it is opened, so that a FIFO or a device
// never is. conflict: it is something else.
Result<OwnedFd> open_plain_file(int root, const std::string& path, int flags);

// A folder and a name in it that is no symlink (or nothing at all).
struct Place {
  OwnedFd folder;
  std::string name;
};
// Where the path's last component is, that component itself not followed.
Result<Place> place_of(int root, const TreePath& path);
// The same, with a symlink at the end followed to where it leads, existing or not.
Result<Place> place_followed(int root, const TreePath& path);

}  // namespace perdure::beneath
