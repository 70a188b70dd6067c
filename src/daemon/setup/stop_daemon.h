// Stops the daemon of a data folder from outside. It is found by its socket, never by a pid file,
// because the process that listens there is certainly the daemon.
#pragma once

#include <string>

#include "base/result.h"

namespace perdure {

// Tells the daemon whose socket is in this folder to stop and waits until it has ended. Agents keep
// running. not_found: no process listens; unavailable: it does not end within ten seconds.
Result<> stop_daemon(const std::string& run_folder);

}  // namespace perdure
