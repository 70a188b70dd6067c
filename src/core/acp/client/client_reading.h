// Agents' answers and requests, read the same way in every protocol version. Only for the client.
#pragma once

#include <string_view>
#include <vector>

#include "core/acp/client/client.h"
#include "core/acp/client/client_sessions.h"

namespace perdure::acp {

// The result of initialize.
Initialized read_initialized(std::string_view result);

// The options in a result of session/new, load, resume, fork or set_config_option: config options
// first; missing ones are taken from `modes` and the old `models`.
std::vector<OptionValue> read_options_shown(std::string_view result);
// Remembers from the same result how options are set.
void remember_options(std::string_view result, KnownSession& session);

// The params of session/request_permission.
PermissionAsked read_permission(const RpcMessage& message);

}  // namespace perdure::acp
