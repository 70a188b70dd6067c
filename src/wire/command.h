// A client's command on its way from the daemon that was asked to the one whose session it is. It
// acts on the session, so what this version does not wholly understand is refused, as with effects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/inputs.h"

namespace perdure {

inline constexpr std::int64_t command_version = 1;

// {"v":1,"kind":"prompt","prompt":{"content":"…"},"when":"auto"}. invalid_argument for an input
// that no other daemon may be given: what is not a client's, and the creation of a session.
Result<std::string> encode_command(const InputBody& command);

// Takes any bytes. format_too_new for a later version, an unknown kind or an unknown member;
// invalid_argument, naming the field, for everything else that is no command.
Result<InputBody> decode_command(std::string_view text);

}  // namespace perdure
