// Makes a worktree without running any program that the repository names: no hook, filter or
// fsmonitor. The repository may belong to an agent, so files are checked out with a configuration
// made for this purpose, not the repository's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "agentctl/workspace/git/git_runner.h"
#include "base/result.h"
#include "core/wire/agentctl/worktree.h"

namespace perdure {

class WorktreeMaker {
 public:
  // The file operations it needs; an empty text or false means no.
  struct Disk {
    std::function<std::string(const std::string& path)> real_path;
    // Makes a separate git folder at `path` with this configuration text.
    std::function<Result<>(const std::string& path, const std::string& config)> make_git_folder;
    std::function<void(const std::string& path)> remove_folder;
  };
  using Done = std::move_only_function<void(Result<WorktreeAnswer>)>;

  // `scratch` is a name that no file of a repository has. The arguments must outlive this object.
  WorktreeMaker(GitRunner& git, Disk disk, WorktreeRequest request, std::string scratch);

  // conflict, with git's message, if git refuses.
  void start(Done done);

 private:
  enum class Branch { made, taken };
  using Next = void (WorktreeMaker::*)(std::string output);

  void run(GitJob job, Next next);
  void look(std::string output);
  void add(Branch branch);
  void added(std::string output);
  void check_out(std::string output);
  void checked_out(std::string output);
  void finish(Result<WorktreeAnswer> answer);
  // Undoes what was added.
  void give_up(Error error);
  std::string certain_git_folder() const;

  GitRunner& git_;
  Disk disk_;
  WorktreeRequest request_;
  std::string scratch_;  // a path in the worktree
  std::string common_;   // the repository's `.git`
  std::string format_;   // its object format
  Done done_;
};

}  // namespace perdure
