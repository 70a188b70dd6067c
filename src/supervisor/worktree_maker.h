// Makes a worktree without running a program that its repository names: no hook, no filter, no
// fsmonitor. The repository may belong to an agent, so that files are not checked out by its own
// configuration, but by one made for this purpose.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "supervisor/git_runner.h"
#include "wire/worktree.h"

namespace perdure {

class WorktreeMaker {
 public:
  // What it needs of the machine's files; each answers with an empty text or false for no.
  struct Disk {
    std::function<std::string(const std::string& path)> real_path;
    // A folder for git of one's own at `path`, with this text as its configuration.
    std::function<Result<>(const std::string& path, const std::string& config)> make_git_folder;
    std::function<void(const std::string& path)> remove_folder;
  };
  using Done = std::move_only_function<void(Result<WorktreeAnswer>)>;

  // `scratch` is a name that no file of a repository has. All outlive it.
  WorktreeMaker(GitRunner& git, Disk disk, WorktreeRequest request, std::string scratch);

  // conflict, with git's own words, where git refuses.
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
  // Takes back what was added.
  void give_up(Error error);
  std::string certain_git_folder() const;

  GitRunner& git_;
  Disk disk_;
  WorktreeRequest request_;
  std::string scratch_;  // a path in the worktree
  std::string common_;   // the repository's `.git`
  std::string format_;   // of its objects
  Done done_;
};

}  // namespace perdure
