// The files beside a session's records that are made for people and for a fast start: the snapshot
// <id>.json (O6) and the token index <id>.tokens.json (O8). Both are projections of the records:
// whoever deletes them loses nothing but the time to make them again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/state.h"
#include "store/store.h"

namespace perdure {

// The fold of the records up to `head`, begun at the snapshot. Nothing when there is no usable
// snapshot and the records are too many, or when they are no session's.
using ReadRecords = std::function<Result<RecordPage>(Seq after)>;
std::optional<State> fold_for_view(const std::optional<StoredSnapshot>& snapshot, Seq head,
                                   const ReadRecords& read);

struct SnapshotView {
  SessionId session;
  Seq last_seq = 0;
  const State* state = nullptr;                   // null: only the above is known
  const std::optional<StoredSnapshot>& snapshot;  // the runtime's own, kept along
};
std::string encode_snapshot_view(const SnapshotView& view);
// The runtime's snapshot in such a file; nothing when there is none or the file is damaged.
std::optional<StoredSnapshot> snapshot_in_view(std::string_view text);

std::string encode_tokens_view(const State& state);

}  // namespace perdure
