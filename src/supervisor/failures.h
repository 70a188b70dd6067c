// What an agent's refusal means to the ladder, and how a person reads it.
#pragma once

#include <cstdint>
#include <string>

#include "acp/classify.h"
#include "acp/rpc.h"
#include "acp/updates.h"
#include "wire/frame.h"

namespace perdure {

// Which class of C4 a failed load, resume or new belongs to.
OpenFailure open_failure(acp::Failure failure);

// Message, code and details, on one line; agents often say only in `data` what happened (R1). Of
// each at most agent_error_bytes_max: an error must fit into a frame, whatever an agent makes of
// it.
std::string error_text(const acp::RpcError& error);

// The same for a setting that the agent never offered: it was not even asked.
acp::RpcError no_such_option(const acp::OptionValue& option);

// For an agent that asks more than anybody answers at once.
acp::RpcError too_many_requests();

// The update that shows that a setting could not be applied.
RawJson option_refused(const acp::RpcError& error);
// The same of one of several prompts in a turn that goes on.
RawJson prompt_refused(const acp::RpcError& error);

// What agentctl did by itself and how often, as an update of its own: see
// docs/protocol/agentctl.md.
struct OwnNote {
  std::string what;
  std::string counted;  // what the number counts
  std::uint64_t number = 0;
};
RawJson own_note(const OwnNote& note);

}  // namespace perdure
