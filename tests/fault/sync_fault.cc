// Loaded into a real daemon by LD_PRELOAD: once the file that SYNC_FAULT names exists, every fsync
// and fdatasync fails with EIO. Until then it changes nothing.
#include <cerrno>
#include <cstdlib>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

bool is_broken() {
  const char* const trigger = std::getenv("SYNC_FAULT");
  return trigger && access(trigger, F_OK) == 0;
}

int sync_by(long call, int file) {
  if (!is_broken()) return static_cast<int>(syscall(call, file));
  errno = EIO;
  return -1;
}

}  // namespace

extern "C" {
int fsync(int file) { return sync_by(SYS_fsync, file); }
int fdatasync(int file) { return sync_by(SYS_fdatasync, file); }
}
