// Typed requests of a client. Only for the agent's half.
#pragma once

#include "core/acp/agent/agent.h"

namespace perdure::acp {

// A complete request, or BadRequest; OtherAsked for an unknown method.
AgentEvent read_request(const RpcMessage& message);

}  // namespace perdure::acp
