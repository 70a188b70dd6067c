// Proves that every chunk of the test agent came once and in order, by markers in its text:
// <pPROMPT:CHUNK> before each chunk and <pPROMPT:end=CHUNKS> at the end of a complete turn.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "base/result.h"

namespace perdure::testagent {

struct SeenTurn {
  std::uint64_t chunks = 0;
  bool ended = false;
  bool operator==(const SeenTurn&) const = default;
};

// The contents of the joined text of a session's agent_message_chunks, by prompt number. A gap, a
// repetition, a wrong order or text after a turn's end is `damaged`.
Result<std::map<std::uint64_t, SeenTurn>> read_sequence(std::string_view text);

}  // namespace perdure::testagent
