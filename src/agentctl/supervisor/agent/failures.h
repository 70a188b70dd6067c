// Maps an agent's errors to classes of the resume ladder and to text for people.
#pragma once

#include <cstdint>
#include <string>

#include "core/acp/classify.h"
#include "core/acp/rpc.h"
#include "core/acp/updates/updates.h"
#include "core/wire/agentctl/frame.h"

namespace perdure {

// The C4 class of a failed load, resume or new.
OpenFailure open_failure(acp::Failure failure);

// Message, code and details, on one line; agents often put the cause only in `data` (R1). Each part
// is at most agent_error_bytes_max, so that every error fits into a frame.
std::string error_text(const acp::RpcError& error);

// The error for a setting that the agent never offered, so that no request was sent.
acp::RpcError no_such_option(const acp::OptionValue& option);

// The error for an agent with too many unanswered requests.
acp::RpcError too_many_requests();

// The update that reports a setting that could not be applied.
RawJson option_refused(const acp::RpcError& error);
// The update that reports one refused prompt in a turn that continues.
RawJson prompt_refused(const acp::RpcError& error);

// An action of agentctl itself, with a count, as an update: see docs/protocol/agentctl.md.
struct OwnNote {
  std::string what;
  std::string counted;  // what the number counts
  std::uint64_t number = 0;
};
RawJson own_note(const OwnNote& note);

}  // namespace perdure
