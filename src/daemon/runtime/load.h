// Loads a session from the store: its last good snapshot, then the records after it, each checked
// against the hash chain. The journal is authoritative; a bad snapshot only costs time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/session/state.h"
#include "store/store.h"

namespace perdure {

struct LoadedSession {
  State state;
  Hash head_hash;
  Seq snapshot = 0;  // the head of the stored snapshot; 0: none is usable
  std::optional<FrameCursor> cursor;
  std::vector<OutboxRow> outbox;
  std::uint64_t epoch = 0;  // of the lease; 0: not requested
};

// not_found if nothing was ever written; damaged if the chain or a record is broken.
Result<LoadedSession> load_session(Store& store, SessionId session);

// The state's snapshot for the store; absent if it is too long: the session continues without one.
std::optional<std::string> snapshot_to_keep(const State& state);

}  // namespace perdure
