// The attached view on a real terminal: joins AttachView with keys, records and the screen.
#pragma once

#include "cli/trouble.h"
#include "cli/world.h"
#include "client/api.h"

namespace perdure::cli {

// Until it is left: exit code 0. The terminal is as before, whatever happened. Blocks.
Outcome<int> attach_terminal(client::DaemonApi& api, const AttachTo& to, Style style);

}  // namespace perdure::cli
