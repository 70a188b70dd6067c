// Effects as outbox payloads. An effect acts outside the journal, so one that this version does not
// fully understand is rejected, not guessed at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/session/effects.h"

namespace perdure {

inline constexpr std::int64_t effect_version = 1;

// {"v":1,"kind":"stop_executor","exec_id":…}; a command to an agentctl contains its own kind and
// fields: {"v":1,"kind":"send_command","exec_id":…,"command":"cancel_prompt","body":{…}}.
std::string encode_effect(const Effect& effect);

// Accepts any bytes. format_too_new for a later version, an unknown kind or an unknown member;
// invalid_argument, naming the field, for anything else that is not an effect.
Result<Effect> decode_effect(std::string_view payload);

}  // namespace perdure
