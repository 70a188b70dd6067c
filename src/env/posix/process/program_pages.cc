#include "env/posix/process/program_pages.h"

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

// Linker symbols for the first byte of the program and the end of its code. Everything between is
// mapped read-only from the file.
extern "C" const char __executable_start;
extern "C" const char etext;

namespace perdure {

void release_program_pages() {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(&__executable_start) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(&etext) & ~(page - 1);
  if (begin >= end) return;
  // If the kernel cannot release them, they just stay.
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace perdure
