// Who a process is, so that it can be recognised after a restart of whoever wrote it down: number,
// start time and host boot together. Silence is not death: what cannot be seen is unknown (C19).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace perdure {

// Meaningful in the pid namespace that it was taken in.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // clock ticks since the host's boot, as the kernel counts
  std::string host_boot;
  bool operator==(const ProcessIdentity&) const = default;
};

enum class ProcessLife { alive, dead, unknown };

// The start time of a process; not_found when there is none.
Result<std::uint64_t> process_started(std::int64_t pid);
// The name of the kernel's present life.
Result<std::string> host_boot();
Result<ProcessIdentity> identify_process(std::int64_t pid);
Result<ProcessIdentity> identify_self();

// dead: another host boot, no such process, a zombie, or a later owner of the number. unknown: the
// machine does not let us see, or the identity is incomplete.
ProcessLife process_life(const ProcessIdentity& identity);

// Sends to exactly that process; not_found (X17) when it is dead, whoever has its number now;
// unavailable when that cannot be told.
Result<> signal_process(const ProcessIdentity& identity, int number);

}  // namespace perdure
