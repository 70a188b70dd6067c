// A context boundary for people and for programs: the agent's remaining memory.
#pragma once

#include <string>

#include "client/json_view.h"

namespace perdure::face {

// A sentence if something was lost; empty if the agent has its memory.
std::string boundary_text(client::JsonView record);
// {"context":{how, verified, agent, reason, inject}}
std::string boundary_meta(client::JsonView record);

// Why a turn ended without an answer, for the records run.failed and run.interrupted.
std::string run_end_text(client::JsonView record);

}  // namespace perdure::face
