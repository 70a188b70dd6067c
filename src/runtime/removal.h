// Deletes a session for good: nothing of it may live any more, then a tombstone in the node journal
// says that it was wanted, then everything of it is taken away. A crash behind the tombstone is
// made good at the next boot, before any session is looked at. The tombstone names the session's
// last record: of a session that went on meanwhile it takes nothing away.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "runtime/node.h"
#include "runtime/runtime.h"

namespace perdure {

enum class RemovalMode { only_stopped, stop_first };

struct RemovalOrder {
  SessionId session;
  RemovalMode mode = RemovalMode::only_stopped;
  NodeRequest request;
};

// Answers once, from the loop. conflict: something of the session may live and it is not to be
// stopped; unavailable: it did not stop, or the store was away, for removal_stop_ms; not_found.
// After an error the session is there, stopped perhaps. One that was found stopped and could not be
// taken away (never after a conflict) goes at the next boot, if nothing is added to it until then.
// The runtime and the node outlive the removal.
void remove_session(Runtime& runtime, Node& node, RemovalOrder order,
                    std::move_only_function<void(Result<>)> done);

// Takes away what is still there as its tombstone names it; how many there were. What another
// daemon has is left to that one. Before Runtime::boot().
Result<std::size_t> finish_removals(Store& store, const NodeState& node);

}  // namespace perdure
