// Ends the daemon of a data folder from outside. It is found by its socket, never by a pid file:
// who listens there is the daemon, whatever was written anywhere.
#pragma once

#include <string>

#include "base/result.h"

namespace perdure {

// Asks the daemon whose socket is in this folder to stop, and waits until it is gone. Agents go on.
// not_found: nobody listens there; unavailable: it does not end within ten seconds.
Result<> stop_daemon(const std::string& run_folder);

}  // namespace perdure
