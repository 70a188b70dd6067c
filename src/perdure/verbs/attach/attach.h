// The attached view on a real terminal: connects AttachView with keys, records and the screen.
#pragma once

#include "client/api.h"
#include "perdure/verbs/call/trouble.h"
#include "perdure/verbs/call/world.h"

namespace perdure::cli {

// Returns when the user detaches: exit code 0. Always restores the terminal. Blocks.
Outcome<int> attach_terminal(client::DaemonApi& api, const AttachTo& to, Style style);

}  // namespace perdure::cli
