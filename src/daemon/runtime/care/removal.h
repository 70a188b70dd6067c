// Deletes a session permanently: first ensures that nothing of it is alive, then writes a tombstone
// to the node journal, then removes all its data. If a crash follows the tombstone, the next boot
// completes the removal before any session is examined. The tombstone names the session's last
// record: a session that has continued since is not deleted.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

enum class RemovalMode { only_stopped, stop_first };

struct RemovalOrder {
  SessionId session;
  RemovalMode mode = RemovalMode::only_stopped;
  NodeRequest request;
};

// Answers once, from the loop. conflict: something may be alive and must not be stopped;
// unavailable: it did not stop, or the store was unavailable, for removal_stop_ms; not_found. After
// an error the session still exists, though it may be stopped. If it was stopped but could not be
// removed (never after a conflict), the next boot removes it unless it has changed by then. The
// runtime and the node outlive the removal.
void remove_session(Runtime& runtime, Node& node, RemovalOrder order,
                    std::move_only_function<void(Result<>)> done);

// Removes sessions that still match their tombstones; returns their number. Skips sessions that
// another daemon owns. Call before Runtime::boot().
Result<std::size_t> finish_removals(Store& store, const NodeState& node);

}  // namespace perdure
