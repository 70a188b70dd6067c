// The container settings that need no connection to an engine: the path of the engine's socket, and
// how to create a session's container.
#pragma once

#include <string>

#include "base/result.h"
#include "daemon/hosting/container/container_place.h"
#include "daemon/runtime/ports.h"
#include "daemon/setup/config.h"

namespace perdure {

// "HOST:CONTAINER" or "HOST:CONTAINER:ro", both absolute.
Result<ContainerMount> parse_mount(const std::string& text);

// The engine's socket: the configured one, DOCKER_HOST, or the first existing one of the usual
// paths. If there is none, engine_unavailable with what to do.
Result<std::string> find_engine_socket(const ContainerSettings& settings);

struct ContainerSetup {
  const ContainerSettings& settings;
  const std::string& agentctl;  // the program
};
ContainerPlan make_container_plan(const ContainerSetup& setup, const LaunchSpec& spec,
                                  const Bootstrap& bootstrap);

}  // namespace perdure
