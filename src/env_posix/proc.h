// What /proc tells about processes. A pid alone names nobody: whoever acts on one holds its pidfd
// and compares the start time after opening it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env_posix/fd.h"

namespace perdure {

// The parts of /proc/PID/stat that matter here.
struct ProcStat {
  std::int64_t pid = 0;
  char state = '?';
  std::int64_t parent = 0;
  std::int64_t group = 0;
  std::int64_t threads = 0;
  std::uint64_t started = 0;  // clock ticks since the host's boot

  // Nothing of it runs any more. A process whose first thread has left while others go on shows
  // the state of a zombie too, and is none.
  bool ended() const { return (state == 'Z' && threads <= 1) || state == 'X'; }
};

// damaged: not what the kernel writes.
Result<ProcStat> parse_proc_stat(std::string_view text);
// not_found: no such process, as far as /proc shows it.
Result<ProcStat> read_proc_stat(std::int64_t pid);
// The number of every process that /proc shows, ascending.
std::vector<std::int64_t> process_numbers();
// Every process that /proc shows, ascending; those that end meanwhile are left out.
std::vector<ProcStat> all_processes();

// Whether the environment that the process was started with holds exactly this NAME=value. One
// that may not be read has no mark.
bool environment_has(const ProcStat& process, std::string_view mark);

// Whether it holds any value of that name; one that may not be read has none.
bool environment_names(const ProcStat& process, std::string_view name);

// The process itself, whatever becomes of its number; not_found when it is gone. Readable once the
// process has ended.
Result<Fd> open_pidfd(std::int64_t pid);
// The same, only if it is the one that started then; not_found for a later owner of the number.
Result<Fd> open_pidfd(const ProcStat& process);
// not_found: it has ended.
Result<> send_signal(const Fd& pidfd, int number);

}  // namespace perdure
