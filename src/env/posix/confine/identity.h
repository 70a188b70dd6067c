// Identifies a process beyond a restart of the process that recorded it: pid, start time and host
// boot together. Silence is not death: a process that cannot be seen is unknown (C19).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "env/host.h"

namespace perdure {

// The start time of the process with this pid; not_found if there is none.
Result<std::uint64_t> process_started(std::int64_t pid);
// The id of the kernel's current life.
Result<std::string> host_boot();
Result<ProcessIdentity> identify_process(std::int64_t pid);
Result<ProcessIdentity> identify_self();

// dead: another host boot, no such process, a zombie, or a later owner of the pid. unknown: the
// machine does not show it, or the identity is incomplete.
ProcessLife process_life(const ProcessIdentity& identity);

// Signals exactly that process. not_found (X17) if it is dead, even if another process has its pid;
// unavailable if that is unknown.
Result<> signal_process(const ProcessIdentity& identity, int number);

}  // namespace perdure
