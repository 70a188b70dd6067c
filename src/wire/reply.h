// The machine's answer to a command as JSON: stored under the idempotency key, so that a retry gets
// the first answer, and shown to clients.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "session/machine.h"

namespace perdure {

// {"seq":17,"run_id":"run_…","message_id":"msg_…","placed":"started"}: only what applies is there.
std::string encode_reply(const Reply& reply);

// Takes any bytes; invalid_argument names the field. Members of a later version are passed over.
Result<Reply> decode_reply(std::string_view text);

}  // namespace perdure
