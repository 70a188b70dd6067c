// Frames of an agentctl as bytes: what the spool keeps and the link carries. The execution they
// belong to is said once, outside: a spool and a link each serve one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "session/inputs.h"

namespace perdure {

inline constexpr std::int64_t frame_version = 1;

// {"v":1,"kind":"message.agent","run_id":…,…}. Number, exec and gen are not in it.
std::string encode_frame(RunId run, const FrameBody& body);

// The same, but never longer than frame_bytes_max, whatever an agent said. Of a longer one its raw
// JSON is left out, and says so: {"perdure":"too_long","bytes":…}; if that is not enough, its texts
// and lists are cut. Kind, run and place stay.
std::string encode_bounded_frame(RunId run, FrameBody body,
                                 std::size_t bytes_max = frame_bytes_max);

// Takes any bytes. The number, exec and gen of the result are left to the caller. A kind that is
// not known becomes an agent.update that keeps the whole frame (X25), so that an old daemon loses
// nothing of a newer agentctl; format_too_new for a later version, invalid_argument for what is no
// frame.
Result<Frame> decode_frame(std::string_view bytes);

}  // namespace perdure
