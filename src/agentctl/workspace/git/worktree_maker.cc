#include "agentctl/workspace/git/worktree_maker.h"

#include <utility>
#include <vector>

#include "base/text.h"

namespace perdure {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::string own_config(const std::string& format) {
  if (format != "sha256") return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
  return "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
         "[extensions]\n\tobjectformat = sha256\n";
}

}  // namespace

WorktreeMaker::WorktreeMaker(GitRunner& git, Disk disk, WorktreeRequest request,
                             std::string scratch)
    : git_(git),
      disk_(std::move(disk)),
      request_(std::move(request)),
      scratch_(request_.path + "/" + std::move(scratch)) {}

void WorktreeMaker::start(Done done) {
  done_ = std::move(done);
  run({.arguments = {"rev-parse", "--path-format=absolute", "--git-common-dir",
                     "--show-object-format"},
       .cwd = request_.repository,
       .access = GitAccess::write_without_programs},
      &WorktreeMaker::look);
}

void WorktreeMaker::run(GitJob job, Next next) {
  git_.run(std::move(job), [this, next](Result<GitOutput> output) {
    if (!output) return give_up(std::move(output).error());
    if (output->exit_code != 0) {
      return give_up(Error(Code::conflict, "git: " + git_complaint(*output)));
    }
    (this->*next)(std::move(output->output));
  });
}

void WorktreeMaker::look(std::string output) {
  const std::vector<std::string> lines = lines_of(output);
  if (lines.size() != 2) return finish(fail(Code::conflict, "git: this is not a repository"));
  common_ = disk_.real_path(lines[0]);
  format_ = lines[1];
  if (common_.empty()) return finish(fail(Code::conflict, "git: the repository is gone"));
  if (!request_.git_folder.empty() && common_ != request_.git_folder) {
    return finish(fail(Code::conflict, "The worktree " + request_.repository +
                                           " no longer belongs to its repository " +
                                           request_.git_folder + ": its file .git was changed."));
  }
  // A repeated request: the worktree is already there.
  if (!disk_.real_path(request_.path + "/.git").empty()) {
    return finish(WorktreeAnswer{.git_folder = certain_git_folder()});
  }
  add(Branch::made);
}

// Adds only the folder and its `.git` file: the repository's configuration must not determine how
// files are checked out.
void WorktreeMaker::add(Branch branch) {
  GitJob job{.arguments = {"worktree", "add", "--no-checkout", "--quiet"},
             .cwd = request_.repository,
             .access = GitAccess::write_without_programs};
  if (branch == Branch::made) {
    job.arguments.insert(job.arguments.end(), {"-b", request_.branch, "--", request_.path});
  } else {
    job.arguments.insert(job.arguments.end(), {"--", request_.path, request_.branch});
  }
  git_.run(std::move(job), [this, branch](Result<GitOutput> output) {
    if (!output) return finish(std::unexpected(std::move(output).error()));
    if (output->exit_code == 0) return added({});
    const bool is_there =
        branch == Branch::made && output->error_text.find("already exists") != std::string::npos;
    if (is_there) return add(Branch::taken);
    finish(fail(Code::conflict, "git: " + git_complaint(*output)));
  });
}

void WorktreeMaker::added(std::string) {
  run({.arguments = {"rev-parse", "--absolute-git-dir", "HEAD^{commit}"},
       .cwd = request_.path,
       .access = GitAccess::write_without_programs},
      &WorktreeMaker::check_out);
}

void WorktreeMaker::check_out(std::string output) {
  const std::vector<std::string> lines = lines_of(output);
  if (lines.size() != 2) return give_up(Error(Code::conflict, "git: HEAD names no commit"));
  if (Result<> made = disk_.make_git_folder(scratch_, own_config(format_)); !made) {
    return give_up(std::move(made).error());
  }
  run({.arguments = {"read-tree", "--reset", "-u", lines[1]},
       .cwd = request_.path,
       .access = GitAccess::write_without_programs,
       .environment = {"GIT_DIR=" + scratch_, "GIT_WORK_TREE=" + request_.path,
                       "GIT_INDEX_FILE=" + lines[0] + "/index",
                       "GIT_OBJECT_DIRECTORY=" + common_ + "/objects",
                       "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
                       "GIT_ATTR_NOSYSTEM=1"}},
      &WorktreeMaker::checked_out);
}

void WorktreeMaker::checked_out(std::string) {
  disk_.remove_folder(scratch_);
  finish(WorktreeAnswer{.git_folder = certain_git_folder()});
}

// A program that can write the folder could point its `.git` anywhere. The git folder is certain
// only if no link is followed: a `.git` directly above, or the requested one.
std::string WorktreeMaker::certain_git_folder() const {
  if (!request_.git_folder.empty()) return request_.git_folder;
  std::string above = disk_.real_path(request_.repository);
  while (!above.empty()) {
    if (common_ == above + "/.git") return common_;
    above.resize(above.rfind('/'));
  }
  return {};
}

void WorktreeMaker::give_up(Error error) {
  disk_.remove_folder(scratch_);
  if (common_.empty()) return finish(std::unexpected(std::move(error)));
  GitJob job{.arguments = {"worktree", "remove", "--force", "--", request_.path},
             .cwd = request_.repository,
             .access = GitAccess::write_without_programs};
  git_.run(std::move(job), [this, error = std::move(error)](const Result<GitOutput>&) {
    finish(std::unexpected(error));
  });
}

void WorktreeMaker::finish(Result<WorktreeAnswer> answer) {
  std::exchange(done_, nullptr)(std::move(answer));
}

}  // namespace perdure
