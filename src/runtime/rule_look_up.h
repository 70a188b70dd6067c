// Asks a session's agentctl, which sees what the agent sees, whether a symlink is on the way to a
// path. A look, no lock: the agent may change the folder a moment later (SECURITY.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/ports.h"

namespace perdure {

using OnLookedUp = std::move_only_function<void(bool is_plain)>;

struct LookUp {
  ExecKey exec;
  std::string cwd;                 // of the workspace
  std::vector<std::string> paths;  // as the agent states them
};

// True: each path lies in the workspace, never leaves it on its way, and each part of it that
// exists is a file or a folder and no symlink, also a part that `..` takes back. False for
// everything else, also when nobody can tell. Answers once, maybe from inside the call.
void look_up(Workspaces& workspaces, LookUp what, OnLookedUp done);

}  // namespace perdure
