// What the handlers work on. The wiring owns all of it and keeps it alive for as long as the API.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "agents/definition.h"
#include "base/result.h"
#include "env/env.h"
#include "runtime/node.h"
#include "runtime/runtime.h"
#include "runtime/session_list.h"

namespace perdure {

class MetricsText;

// A worktree of the repository that `cwd` is in, for this session.
struct WorktreeOrder {
  SessionId session;
  std::string cwd;
  std::string branch;  // empty: one named after the session
};

struct ApiWorld {
  Runtime& runtime;
  Node& node;
  SessionList& sessions;
  Clock& clock;
  Random& random;
  Loop& loop;
  Files& files;
  Workspaces& workspaces;
  const AgentCatalog& agents;
  std::string version;
  std::string workspaces_folder;  // for sessions without a cwd
  Policy policy;                  // of a session that says nothing else

  // Makes the folder of a session without a cwd and gives its path. Asked twice it gives the same.
  std::function<Result<std::string>(SessionId session)> make_workspace;
  // Keeps the values of a session's environment variables, outside of the journal (K19).
  std::function<Result<>(SessionId session, const std::map<std::string, std::string>& values)>
      keep_environment;
  // Answers later, on the loop. Without one worktrees are refused.
  using OnWorktree = std::move_only_function<void(Result<Workspace>)>;
  std::function<void(WorktreeOrder order, OnWorktree done)> make_worktree;
  // Adds what only the wiring knows to /metrics.
  std::function<void(MetricsText& text)> more_metrics;
  // Copies the journal into a new file while it goes on being written (S13). Answers on the loop.
  std::function<void(std::string path, std::move_only_function<void(Result<>)> done)> backup;
};

}  // namespace perdure
