// The machine's answer to a command as JSON: stored under the idempotency key, so that a retry gets
// the first answer, and returned to clients.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/session/machine.h"

namespace perdure {

// {"seq":17,"run_id":"run_…","message_id":"msg_…","placed":"started"}: only members that apply.
std::string encode_reply(const Reply& reply);

// Accepts any bytes; invalid_argument names the field. Members of a later version are ignored.
Result<Reply> decode_reply(std::string_view text);

}  // namespace perdure
