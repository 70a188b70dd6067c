// Runs one command on another host over this machine's ssh, which prompts for passwords and keys.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

struct SshCommand {
  std::vector<std::string> options;
  std::string target;
  std::string command;     // runs in the remote shell
  std::string input = {};  // bytes for its stdin
};

// Returns its stdout. unavailable: ssh is missing, or the host, its key or the login is refused;
// internal: the command failed there. Both errors contain the end of stderr, which is also copied
// to ours. Blocks.
Result<std::string> run_ssh(const SshCommand& what);

// The host to which ssh itself would connect for this target, by its configuration.
Result<std::string> ssh_host(const SshCommand& what);

// Quotes a word so that the remote shell does not change it.
std::string shell_quoted(const std::string& text);

}  // namespace perdure
