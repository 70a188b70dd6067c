// Shared by the read benchmarks: making caches cold, counting reads and peak memory, and the plain
// file with which reads are compared.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "base/check.h"
#include "base/result.h"
#include "store/store.h"

namespace perdure::bench {

enum class Cache { warm, cold };

inline SessionId session(std::uint64_t number) { return SessionId(Ulid{1, number}); }

inline void must(const Result<>& result) {
  if (!result) check_failed("store", 0, result.error().message().c_str());
}

// Drops the file from the page cache, as after a reboot.
inline void make_cold(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0 && ::fsync(file) == 0);
  CHECK(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
  ::close(file);
}

// The number after a name in a file of /proc; 0 if there is none.
inline std::uint64_t proc_number(const char* path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::uint64_t value = 0;
    if (word == name && file >> value) return value;
  }
  return 0;
}

// Everything that this process has read so far.
struct ReadCount {
  std::uint64_t calls = 0;
  std::uint64_t disk_bytes = 0;  // including the kernel's readahead

  static ReadCount now() {
    return {.calls = proc_number("/proc/self/io", "syscr:"),
            .disk_bytes = proc_number("/proc/self/io", "read_bytes:")};
  }
};

// The peak growth of resident memory since construction. Freed memory is returned to the system
// first: otherwise the second measurement would reuse it.
class PeakMemory {
 public:
  PeakMemory() {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
    before_kib_ = proc_number("/proc/self/status", "VmRSS:");
  }
  double growth_kib() const {
    const std::uint64_t peak = proc_number("/proc/self/status", "VmHWM:");
    return peak > before_kib_ ? static_cast<double>(peak - before_kib_) : 0;
  }

 private:
  std::uint64_t before_kib_ = 0;
};

// The minimum for a read: open the file and read contiguous bytes at a known place.
inline void read_plain(const std::string& path, std::uint64_t offset, std::string& into) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0);
  CHECK(::pread(file, into.data(), into.size(), static_cast<off_t>(offset)) ==
        static_cast<ssize_t>(into.size()));
  ::close(file);
}

}  // namespace perdure::bench
