// A session's state as bytes, so that recovery need not fold the whole journal. A snapshot is a
// hint: if it is unusable, the journal gives the state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/session/state.h"

namespace perdure {

// Increased whenever State or the meaning of a field changes; snapshots of all other versions are
// rejected, including older ones.
inline constexpr std::int64_t snapshot_version = 2;

std::string encode_snapshot(const State& state);

// Accepts any bytes. format_too_new for another version, damaged for anything else that
// encode_snapshot did not write: every flipped bit is found. The caller then folds from the start.
Result<State> decode_snapshot(std::string_view bytes);

}  // namespace perdure
