// Owned file descriptors, and errno as an Error. Every descriptor in this folder is close-on-exec
// from its creation: a child gets only the descriptors passed to it explicitly.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace perdure {

// Owns one descriptor; -1 is none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int descriptor) : descriptor_(descriptor) {}
  Fd(Fd&& other) noexcept : descriptor_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }
  void reset(int descriptor = -1);

 private:
  int descriptor_ = -1;
};

struct Pipe {
  Fd read;
  Fd write;
};

// Both ends are close-on-exec, blocking, and above 2, so that a child's stdio cannot overlap.
Result<Pipe> make_pipe();

Result<> set_nonblocking(const Fd& fd);

// Converts errno to our errors. `doing` names the attempted action: "open spool".
Error system_error(int error, std::string_view doing);
// The same from errno.
std::unexpected<Error> system_failure(std::string_view doing);

// The content of a small file (such as in /proc), at most `bytes_max` of it.
Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max = 64UL << 10);

}  // namespace perdure
