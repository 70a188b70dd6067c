// Repair (A13, A14): closes what a crash left open in the conversation by appending, never by
// rewriting. The plan is a function of the state, so a dry run shows exactly what would happen and
// a second repair does nothing (X19).
#pragma once

#include <vector>

#include "core/session/events.h"
#include "core/session/state.h"

namespace perdure {

// The records that close the open agent message and every open tool call, in order. Empty if
// nothing is open.
std::vector<EventBody> plan_repair(const State& state);

}  // namespace perdure
