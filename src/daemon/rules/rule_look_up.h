// Asks a session's agentctl, which sees the agent's files, whether the way to a path contains a
// symlink. A check, not a lock: the agent may change the folder right after (SECURITY.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/runtime/ports.h"

namespace perdure {

using OnLookedUp = std::move_only_function<void(bool is_plain)>;

struct LookUp {
  ExecKey exec;
  std::string cwd;                 // of the workspace
  std::vector<std::string> paths;  // as the agent states them
};

// True: each path lies in the workspace, never leaves it on the way, and each existing part of it
// is a file or a folder and not a symlink, including parts that `..` cancels. False otherwise, also
// if the check fails. Answers once, possibly within the call.
void look_up(Workspaces& workspaces, LookUp what, OnLookedUp done);

}  // namespace perdure
