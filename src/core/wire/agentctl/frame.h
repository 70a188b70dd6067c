// Frames of an agentctl as bytes, for the spool and the link. They do not name their execution:
// each spool and each link serves one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "core/session/inputs.h"

namespace perdure {

inline constexpr std::int64_t frame_version = 1;

// {"v":1,"kind":"message.agent","run_id":…,…}. Number, exec and gen are not included.
std::string encode_frame(RunId run, const FrameBody& body);

// The same for an agent's output: always a frame that decode_frame() accepts, and never longer than
// frame_bytes_max. If it is longer, raw JSON is replaced by {"perdure":"too_long","bytes":…}; if
// that does not suffice, texts and lists are cut. JSON that would be too deep is kept as a text:
// {"perdure":"too_deep","json":…}. Kind, run and position stay.
std::string encode_bounded_frame(RunId run, FrameBody body,
                                 std::size_t bytes_max = frame_bytes_max);

// Accepts any bytes. The caller sets the result's number, exec and gen. An unknown kind becomes an
// agent.update that contains the whole frame (X25), so that an old daemon loses nothing from a
// newer agentctl; format_too_new for a later version, invalid_argument for anything that is not a
// frame.
Result<Frame> decode_frame(std::string_view bytes);

}  // namespace perdure
