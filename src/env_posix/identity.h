// Who a process is, so that it can be recognised after a restart of whoever wrote it down: number,
// start time and host boot together. Silence is not death: what cannot be seen is unknown (C19).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "env/host.h"

namespace perdure {

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
