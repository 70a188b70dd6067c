// What must be known of a repository before git may read it for us: where the workspace lies in it,
// and which settings have to be overruled so that reading runs no program of the repository's own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "supervisor/git_runner.h"

namespace perdure {

struct GitRepository {
  std::string cwd;     // absolute; where jobs run
  std::string prefix;  // of the cwd below the top of the repository, with a slash; empty: the top
  std::vector<std::string> settings;  // for each reading job

  // A raw path from the top as one from the cwd. Empty: it is not below it.
  std::string_view below(std::string_view path) const;
};

// Asks git. not_found: no repository. denied: one of another user, or one whose filters cannot be
// turned off.
void open_git_repository(GitRunner& git, std::string cwd,
                         std::move_only_function<void(Result<GitRepository>)> then);

// The error for a job that git itself refused.
Error git_refusal(const GitOutput& output);

}  // namespace perdure
