#include "env/posix/world.h"

#include <cerrno>

#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "base/check.h"
#include "env/posix/confine/identity.h"

namespace perdure {
namespace {

std::int64_t clock_ms(clockid_t clock) {
  timespec now{};
  CHECK(clock_gettime(clock, &now) == 0);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

Result<std::unique_ptr<PosixClock>> PosixClock::create() {
  return std::unique_ptr<PosixClock>(new PosixClock(TRY(host_boot())));
}

Moment PosixClock::now() {
  return {Timestamp{clock_ms(CLOCK_REALTIME)}, BootTime{clock_ms(CLOCK_BOOTTIME)}, host_boot_};
}

std::uint64_t PosixRandom::next() {
  std::uint64_t number = 0;
  ssize_t got = 0;
  do { got = getrandom(&number, sizeof number, 0); } while (got < 0 && errno == EINTR);
  CHECK(got == sizeof number, "the kernel gives no random numbers");
  return number;
}

bool PosixFiles::folder_exists(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace perdure
