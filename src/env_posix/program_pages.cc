#include "env_posix/program_pages.h"

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

// Where the linker put the first byte of the program, and the one behind its code. All between is
// mapped read-only from the file.
extern "C" const char __executable_start;
extern "C" const char etext;

namespace perdure {

void release_program_pages() {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(&__executable_start) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(&etext) & ~(page - 1);
  if (begin >= end) return;
  // Where the kernel does not do it they stay, and nothing is wrong.
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace perdure
