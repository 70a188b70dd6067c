// One command on another host by the ssh of this machine, which asks for passwords and keys itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

struct SshCommand {
  std::vector<std::string> options;
  std::string target;
  std::string command;     // for the shell there
  std::string input = {};  // bytes for its stdin
};

// What it wrote to stdout. unavailable: there is no ssh, or the host, its key or the login is
// refused; internal: the command failed there. Both hold the last words of stderr, which goes to
// ours as well. Blocks.
Result<std::string> run_ssh(const SshCommand& what);

// Where ssh itself would connect for this target, by its configuration.
Result<std::string> ssh_host(const SshCommand& what);

// A word that the shell there takes as it is.
std::string shell_quoted(const std::string& text);

}  // namespace perdure
