// A client's command, forwarded to the daemon that owns the session. It changes the session, so as
// with effects, a command that this version does not fully understand is rejected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/session/inputs.h"

namespace perdure {

inline constexpr std::int64_t command_version = 1;

// {"v":1,"kind":"prompt","prompt":{"content":"…"},"when":"auto"}. invalid_argument for inputs that
// must not be forwarded: those that do not come from clients, and the creation of a session.
Result<std::string> encode_command(const InputBody& command);

// Accepts any bytes. format_too_new for a later version, an unknown kind or an unknown member;
// invalid_argument, naming the field, for anything else that is not a command.
Result<InputBody> decode_command(std::string_view text);

}  // namespace perdure
