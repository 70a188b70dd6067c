// The git.worktree_* calls. A worktree is removed only if nothing is lost: no change, no untracked
// file, no unfinished merge or rebase, no commit that exists nowhere else.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/workspace/git/git_repository.h"
#include "agentctl/workspace/git/git_runner.h"
#include "agentctl/workspace/git/git_text.h"
#include "agentctl/workspace/workspace_params.h"
#include "env/file_tree.h"

namespace perdure {

class WorktreeCalls {
 public:
  // `home`: the folder in which worktrees are made and removed.
  struct Trees {
    FileTree& files;
    FileTree& home;
  };
  WorktreeCalls(GitRunner& git, Trees trees) : git_(git), trees_(trees) {}

  void list(std::string_view params, WorkspaceReply reply);
  void add(std::string_view params, WorkspaceReply reply);
  void remove(std::string_view params, WorkspaceReply reply);

 private:
  struct Removal;
  using Step = std::move_only_function<void(Removal, GitOutput)>;

  void find(std::string_view path, std::move_only_function<void(Result<GitWorktree>)> then);
  void look_at_files(Removal removal);
  void look_at_unfinished(Removal removal);
  void look_at_commits(Removal removal);
  void decide(Removal removal);
  void run(Removal removal, GitJob job, Step step);

  GitRunner& git_;
  Trees trees_;
};

}  // namespace perdure
