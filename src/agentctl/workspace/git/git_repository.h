// What we must know about a repository before git may read it: where the workspace lies in it, and
// which settings to override so that reading runs no program that the repository names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/workspace/git/git_runner.h"
#include "base/result.h"

namespace perdure {

struct GitRepository {
  std::string cwd;     // absolute; jobs run here
  std::string prefix;  // the cwd below the top, with a trailing slash; empty: the top
  std::vector<std::string> settings;  // for each reading job

  // Converts a raw path from the top to one from the cwd. Empty if it is not below the cwd.
  std::string_view below(std::string_view path) const;
};

// Runs git. not_found: not a repository. denied: another user's repository, or one with filters
// that cannot be disabled.
void open_git_repository(GitRunner& git, std::string cwd,
                         std::move_only_function<void(Result<GitRepository>)> then);

// The error for a job that git refused.
Error git_refusal(const GitOutput& output);

}  // namespace perdure
