// Brings a session back from the store: its last good snapshot, then the records behind it, each
// checked against the hash chain. The journal is the truth; a bad snapshot only costs time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/state.h"
#include "store/store.h"

namespace perdure {

struct LoadedSession {
  State state;
  Hash head_hash;
  Seq snapshot = 0;  // the head the stored snapshot was taken at; 0: none that can be used
  std::optional<FrameCursor> cursor;
  std::vector<OutboxRow> outbox;
  std::uint64_t epoch = 0;  // of the lease; 0: nobody has asked for it
};

// not_found when nothing was ever written; damaged when the chain or a record is broken.
Result<LoadedSession> load_session(Store& store, SessionId session);

// The state's snapshot for the store; nothing for one that is too long: the session goes on
// without.
std::optional<std::string> snapshot_to_keep(const State& state);

}  // namespace perdure
