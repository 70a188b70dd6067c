// The files next to a session's records that serve people and a fast start: the snapshot <id>.json
// (O6) and the token index <id>.tokens.json (O8). Both are projections: deleting them only costs
// the time to rebuild them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/session/state.h"
#include "store/store.h"

namespace perdure {

// Folds the records up to `head`, beginning at the snapshot. Absent if too many records follow the
// last usable snapshot, or if they are not session records.
using ReadRecords = std::function<Result<RecordPage>(Seq after)>;
std::optional<State> fold_for_view(const std::optional<StoredSnapshot>& snapshot, Seq head,
                                   const ReadRecords& read);

struct SnapshotView {
  SessionId session;
  Seq last_seq = 0;
  const State* state = nullptr;                   // null: only the fields above are known
  const std::optional<StoredSnapshot>& snapshot;  // the runtime's own, stored with the rest
};
std::string encode_snapshot_view(const SnapshotView& view);
// The runtime's snapshot from such a file; absent if there is none or it is damaged.
std::optional<StoredSnapshot> snapshot_in_view(std::string_view text);

std::string encode_tokens_view(const State& state);

}  // namespace perdure
