// The requests of a client, typed. Only for the agent's half.
#pragma once

#include "acp/agent.h"

namespace perdure::acp {

// A request with what it needs, or BadRequest; OtherAsked for a method that is not known here.
AgentEvent read_request(const RpcMessage& message);

}  // namespace perdure::acp
