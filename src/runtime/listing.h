// The row that the list of sessions shows, made from a session's state and from nothing else that
// is remembered.
#pragma once

#include "runtime/shared.h"
#include "session/state.h"
#include "store/store.h"

namespace perdure {

// Reconcile has to look at the session after a restart. `has_effects`: its outbox has rows.
bool is_open(const State& state, bool has_effects);

Listing make_listing(const ActorShared& shared, const State& state, bool has_effects);

}  // namespace perdure
