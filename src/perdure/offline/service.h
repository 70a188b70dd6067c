// `perdure service`: the daemon as a service of the user's systemd. A restart of the service leaves
// agentctls alone (KillMode=process).
#pragma once

#include <string>

#include "base/result.h"

namespace perdure {

// The unit file, for the user's service manager.
std::string user_unit(const std::string& program);

// Writes the unit and returns sentences that say what was done and what to do next. With `enable`,
// calls systemctl too. unavailable: no home folder is known, or systemctl failed.
Result<std::string> install_service(const std::string& program, bool enable);

Result<std::string> service_status();

}  // namespace perdure
