// `perdure demo-agent`: the demo agent as a process that speaks ACP on stdin and stdout.
#pragma once

#include <string>

namespace perdure::demo {

struct DemoFolders {
  // The folder of the sessions: $PERDURE_DEMO_HOME, or ~/.local/state/perdure-demo.
  std::string home;
};

// Reads the environment. Empty if neither is set.
DemoFolders demo_folders_from_environment();

// Runs until stdin ends; returns the exit code. Blocks.
int demo_agent_main(const DemoFolders& folders);

}  // namespace perdure::demo
