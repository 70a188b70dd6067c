#include "env/posix/process/kept_program.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/posix/files/fd.h"

namespace perdure {
namespace {

constexpr mode_t program_mode = 0700;  // in a container its user is the same one
constexpr std::size_t piece_bytes = 64UL << 10;

bool is_equal(const Fd& one, const std::string& path) {
  const Fd other(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, piece_bytes> ours;
  std::array<char, piece_bytes> theirs;
  for (off_t at = 0; other;) {
    const ssize_t got = pread(one.get(), ours.data(), ours.size(), at);
    if (got < 0 || pread(other.get(), theirs.data(), theirs.size(), at) != got) return false;
    if (std::memcmp(ours.data(), theirs.data(), static_cast<std::size_t>(got)) != 0) return false;
    if (got == 0) return true;
    at += got;
  }
  return false;
}

Result<> copy_bytes(const Fd& from, const std::string& path) {
  unlink(path.c_str());
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Fd to(open(path.c_str(), flags, program_mode));
  if (!to) return system_failure("make " + path);
  off_t at = 0;
  while (true) {
    const ssize_t sent = sendfile(to.get(), from.get(), &at, 1UL << 30);
    if (sent == 0) break;
    if (sent < 0 && errno != EINTR) return system_failure("write " + path);
  }
  if (fchmod(to.get(), program_mode) != 0) return system_failure("write " + path);
  return {};
}

}  // namespace

Result<> keep_program(const KeptProgram& program) {
  const Fd from(open(program.from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from) return system_failure("read " + program.from);
  if (!is_equal(from, program.to)) {
    // Not synced: what a crash leaves of it differs from the program, and is copied again.
    const std::string fresh = program.to + ".new";
    Result<> copied = copy_bytes(from, fresh);
    if (copied && rename(fresh.c_str(), program.to.c_str()) != 0) {
      copied = system_failure("replace " + program.to);
    }
    if (!copied) {
      unlink(fresh.c_str());
      return copied;
    }
  }
  if (access(program.to.c_str(), X_OK) == 0) return {};
  return fail(Code::denied, program.to + " cannot be started: " + std::strerror(errno) +
                                ". Is its file system mounted with noexec?");
}

}  // namespace perdure
