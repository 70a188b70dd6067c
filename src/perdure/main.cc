// The program `perdure`: the command line, the daemon as one of its verbs, and two programs that
// the daemon starts: the demo agent and the prober of agents.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error_codes.h"
#include "demo/demo_program.h"
#include "perdure/offline/local_verbs.h"
#include "perdure/verbs/call/cli.h"
#include "probe/probe_program.h"

namespace perdure {
namespace {

// Not a verb: the daemon starts it like any other agent.
int demo_agent() {
  const demo::DemoFolders folders = demo::demo_folders_from_environment();
  if (folders.home.empty()) {
    std::fputs("perdure demo-agent: neither PERDURE_DEMO_HOME nor HOME is set\n", stderr);
    return exit_usage;
  }
  return demo::demo_agent_main(folders);
}

// Not a verb either: the daemon starts it to test an agent's abilities.
constexpr std::string_view probe_word = "probe-agent";

// After an upgrade the kernel appends a word to the name of our executable.
std::string own_program() {
  std::error_code error;
  std::string path = std::filesystem::read_symlink("/proc/self/exe", error);
  constexpr std::string_view replaced = " (deleted)";
  if (path.ends_with(replaced)) path.resize(path.size() - replaced.size());
  return path;
}

}  // namespace
}  // namespace perdure

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "demo-agent") return perdure::demo_agent();
  if (argc == 2 && argv[1] == perdure::probe_word) return perdure::probe::probe_program_main();
  return perdure::cli::cli_main(argc, argv, perdure::local_verbs(perdure::own_program()));
}
