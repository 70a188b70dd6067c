#include "env/posix/files/file_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace perdure {
namespace {

// Another process keeps replacing the file: give up after these tries.
constexpr int attempts_max = 8;

}  // namespace

Result<FileLock> FileLock::try_acquire(const PosixFolder& folder, const std::string& name) {
  TRY(folder.short_path(name));  // a plain name
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    const int at = folder.descriptor().get();
    Fd file(openat(at, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
    if (!file) return system_failure("open lock " + name);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return fail(Code::conflict, name + " is held by another process");
      return system_failure("lock " + name);
    }
    struct stat locked{};
    struct stat named{};
    if (fstat(file.get(), &locked) == 0 &&
        fstatat(at, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        locked.st_dev == named.st_dev && locked.st_ino == named.st_ino) {
      return FileLock(std::move(file));
    }
  }
  return fail(Code::unavailable, name + " is being replaced");
}

}  // namespace perdure
