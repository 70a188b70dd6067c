// The proof that every chunk of the test agent came exactly once and in order: its text carries
// markers, <pPROMPT:CHUNK> before each chunk and <pPROMPT:end=CHUNKS> at the end of a whole turn.
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

// What the joined text of all agent_message_chunks of a session holds, by the prompt's number. A
// gap, a repetition, a wrong order or anything behind a turn's end is `damaged`.
Result<std::map<std::uint64_t, SeenTurn>> read_sequence(std::string_view text);

}  // namespace perdure::testagent
