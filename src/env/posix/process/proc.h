// Facts from /proc about processes. A pid alone identifies no process: before acting on one, open
// its pidfd and then compare the start time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/posix/files/fd.h"

namespace perdure {

// The parts of /proc/PID/stat that matter here.
struct ProcStat {
  std::int64_t pid = 0;
  char state = '?';
  std::int64_t parent = 0;
  std::int64_t group = 0;
  std::int64_t threads = 0;
  std::uint64_t started = 0;  // clock ticks since the host's boot

  // No part of it runs. A process whose first thread has exited while others continue is also shown
  // as a zombie, but has not ended.
  bool ended() const { return (state == 'Z' && threads <= 1) || state == 'X'; }
};

// damaged: not the kernel's format.
Result<ProcStat> parse_proc_stat(std::string_view text);
// not_found: /proc shows no such process.
Result<ProcStat> read_proc_stat(std::int64_t pid);
// The number of every process that /proc shows, ascending.
std::vector<std::int64_t> process_numbers();
// Every process that /proc shows, ascending; those that end meanwhile are left out.
std::vector<ProcStat> all_processes();

// Whether the process was started with exactly this NAME=value in its environment. One whose
// environment is unreadable counts as unmarked.
bool environment_has(const ProcStat& process, std::string_view mark);

// Whether it contains any value for that name; false if it is unreadable.
bool environment_names(const ProcStat& process, std::string_view name);

// Refers to the process itself, even if its pid is reused; not_found if it is gone. Readable after
// the process has ended.
Result<Fd> open_pidfd(std::int64_t pid);
// The same, but only for the process with that start time; not_found for a later owner of the pid.
Result<Fd> open_pidfd(const ProcStat& process);
// not_found: it has ended.
Result<> send_signal(const Fd& pidfd, int number);

}  // namespace perdure
