// What the daemon knows of containers before it speaks to an engine: where its socket is, and how
// a session's container is to be made.
#pragma once

#include <string>

#include "base/result.h"
#include "executors/container_place.h"
#include "main/config.h"
#include "runtime/ports.h"

namespace perdure {

// "HOST:CONTAINER" or "HOST:CONTAINER:ro", both absolute.
Result<ContainerMount> parse_mount(const std::string& text);

// The engine's socket: as configured, else DOCKER_HOST, else the first that is there of the usual
// places. engine_unavailable, with what to do, where there is none.
Result<std::string> find_engine_socket(const ContainerSettings& settings);

struct ContainerSetup {
  const ContainerSettings& settings;
  const std::string& agentctl;  // the program
};
ContainerPlan make_container_plan(const ContainerSetup& setup, const LaunchSpec& spec,
                                  const Bootstrap& bootstrap);

}  // namespace perdure
