// Finds the sessions that were copied from another one, directly or through other copies: their own
// records contain the same text.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

// The session that this one's first record was copied from, by a fork or an import.
std::optional<SessionId> copied_from(Store& store, SessionId session);

using OnForks = std::move_only_function<void(Result<std::vector<SessionId>>)>;

// Reads the first record of each session, yielding to the loop in between. Answers from the loop.
void find_forks(Runtime& runtime, SessionId of, OnForks done);

}  // namespace perdure
