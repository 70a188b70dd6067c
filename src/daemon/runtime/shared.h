// State shared by all session actors of one runtime. Asynchronous callbacks hold it weakly, so that
// none of them uses a runtime that is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "daemon/runtime/counts.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

struct ActorShared {
  Runtime::World world;
  RuntimeConfig config;
  std::uint64_t dropped_frames = 0;
  EventCounts counts;
  // A session has nothing waiting or in flight.
  std::function<void(SessionId)> on_quiet;
  // A commit of the session is durable, or its link came up or broke.
  std::function<void(SessionId)> on_changed;
  // Another daemon owns the session now.
  std::function<void(SessionId)> on_lost;
  // A reader was disconnected and removed.
  std::function<void(SubscriptionId)> on_reader_cut;
  // Expires with the runtime.
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

// Checks a lease with the store: stale_owner if it has been lost, or why its state is unknown.
Result<> check_still_ours(Store& store, const OwnedSession& owned);

// The secret of a wait token: derived from the key each time, never stored (contract: /api/waits).
std::string make_wait_secret(const std::string& wait_key, WaitTokenId token);

}  // namespace perdure
