// What all session actors of one runtime share. Callbacks that come back later hold it weakly, so
// that none of them finds a runtime that is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/counts.h"
#include "runtime/runtime.h"

namespace perdure {

struct ActorShared {
  Runtime::World world;
  RuntimeConfig config;
  std::uint64_t dropped_frames = 0;
  EventCounts counts;
  // A session has nothing in flight and nothing waiting.
  std::function<void(SessionId)> on_quiet;
  // A commit of the session is durable, or its link came or went.
  std::function<void(SessionId)> on_changed;
  // The session is another daemon's now.
  std::function<void(SessionId)> on_lost;
  // A reader was cut and is forgotten.
  std::function<void(SubscriptionId)> on_reader_cut;
  // Expires with the runtime.
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

// Whether a lease stands, asked of the store: stale_owner when it does not, or why nobody can tell.
Result<> check_still_ours(Store& store, const OwnedSession& owned);

// The secret of a wait token: made from the key each time, never stored (contract: /api/waits).
std::string make_wait_secret(const std::string& wait_key, WaitTokenId token);

}  // namespace perdure
