// The git.* calls except worktrees. Reads run nothing that the repository names; stage and commit
// do what the same command does when a user types it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "agentctl/workspace/git/git_repository.h"
#include "agentctl/workspace/git/git_runner.h"
#include "agentctl/workspace/workspace_params.h"
#include "env/file_tree.h"

namespace perdure {

class GitCalls {
 public:
  GitCalls(GitRunner& git, FileTree& files) : git_(git), files_(files) {}

  void status(std::string_view params, WorkspaceReply reply);
  void diff(std::string_view params, WorkspaceReply reply);
  void log(std::string_view params, WorkspaceReply reply);
  void show(std::string_view params, WorkspaceReply reply);
  void stage(std::string_view params, WorkspaceReply reply);
  void unstage(std::string_view params, WorkspaceReply reply);
  void commit(std::string_view params, WorkspaceReply reply);

 private:
  using Answer =
      std::move_only_function<Result<std::string>(const GitRepository&, const GitOutput&)>;

  void read(GitJob job, WorkspaceReply reply, Answer answer);
  void change_index(std::vector<std::string> arguments, std::string_view params,
                    WorkspaceReply reply);
  void tell_head(WorkspaceReply reply);

  GitRunner& git_;
  FileTree& files_;
};

// The arguments that make a diff independent of external programs and user settings.
std::vector<std::string> git_diff_arguments(std::string_view subcommand);

}  // namespace perdure
