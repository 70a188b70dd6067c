// `perdure demo-agent`: the demo agent as a process that speaks ACP on stdin and stdout.
#pragma once

#include <string>

namespace perdure::demo {

struct DemoFolders {
  // Where sessions are kept: $PERDURE_DEMO_HOME, else ~/.local/state/perdure-demo.
  std::string home;
};

// Reads the environment. Empty when there is no place to be found.
DemoFolders demo_folders_from_environment();

// Runs until stdin ends; the exit code. Blocks.
int demo_agent_main(const DemoFolders& folders);

}  // namespace perdure::demo
