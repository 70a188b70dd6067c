#include "daemon/launch/programs.h"

#include <algorithm>
#include <cstdlib>

#include <sys/stat.h>
#include <unistd.h>

#include "daemon/launch/agent_launch.h"

namespace perdure {
namespace {

// access() calls a folder executable if it may be entered.
bool is_program(const std::string& path) {
  struct stat found{};
  return access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &found) == 0 &&
         S_ISREG(found.st_mode);
}

}  // namespace

bool has_program(const std::string& program, std::string_view path) {
  if (program.empty()) return false;
  if (program.find('/') != std::string::npos) return is_program(program);
  while (!path.empty()) {
    const std::string folder(path.substr(0, path.find(':')));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    if (!folder.empty() && is_program(folder + "/" + program)) return true;
  }
  return false;
}

HasProgram programs_for(const AgentDefinition& agent) {
  const auto own = agent.env.find("PATH");
  const char* const inherited = std::getenv("PATH");
  std::string path = own != agent.env.end() ? own->second
                     : inherited            ? std::string(inherited)
                                            : std::string(path_otherwise);
  return
      [path = std::move(path)](const std::string& program) { return has_program(program, path); };
}

}  // namespace perdure
