// A session's state as bytes, so that recovery need not fold the whole journal. A snapshot is a
// hint: whatever is wrong with one, the journal gives the state again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/state.h"

namespace perdure {

// Goes up whenever State or the meaning of a field changes; snapshots of any other version are
// refused, older ones too.
inline constexpr std::int64_t snapshot_version = 2;

std::string encode_snapshot(const State& state);

// Takes any bytes. format_too_new for another version, damaged for everything else that is not
// exactly what encode_snapshot wrote: every flipped bit is found. The caller folds from the start.
Result<State> decode_snapshot(std::string_view bytes);

}  // namespace perdure
