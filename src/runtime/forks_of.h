// Finds the sessions that were copied from another one, and from those: they have records of their
// own with the same text.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/runtime.h"

namespace perdure {

// The session that this one's first record was copied from, by a fork or an import.
std::optional<SessionId> copied_from(Store& store, SessionId session);

using OnForks = std::move_only_function<void(Result<std::vector<SessionId>>)>;

// Looks at the first record of each session, with the loop free in between. Answers from the loop.
void find_forks(Runtime& runtime, SessionId of, OnForks done);

}  // namespace perdure
