// Maps calls to the parts that serve them.
#include "agentctl/workspace/workspace.h"

#include <utility>

#include "agentctl/workspace/git/git_runner.h"
#include "agentctl/workspace/git/workspace_git.h"
#include "agentctl/workspace/git/workspace_worktrees.h"
#include "agentctl/workspace/search/workspace_search.h"
#include "agentctl/workspace/shells/workspace_shells.h"
#include "agentctl/workspace/workspace_files.h"

namespace perdure {

struct WorkspaceCalls::GitPart {
  explicit GitPart(const WorkspaceSetup& setup)
      : git({setup.loop, setup.processes, setup.environment}),
        search({setup.loop, setup.files, git}),
        calls(git, setup.files),
        worktrees(git, {setup.files, setup.worktrees == nullptr ? setup.files : *setup.worktrees}) {
  }

  GitRunner git;
  SearchCalls search;
  GitCalls calls;
  WorktreeCalls worktrees;
};

struct WorkspaceCalls::FilePart {
  explicit FilePart(const WorkspaceSetup& setup) : calls(setup.loop, setup.files) {}

  FileCalls calls;
};

struct WorkspaceCalls::ShellPart {
  explicit ShellPart(const WorkspaceSetup& setup)
      : shells({setup.loop, setup.processes, setup.files, setup.environment, setup.shell}),
        calls(shells) {}

  Shells shells;
  ShellCalls calls;
};

WorkspaceCalls::WorkspaceCalls(WorkspaceSetup setup) : setup_(std::move(setup)) {}
WorkspaceCalls::~WorkspaceCalls() = default;

WorkspaceCalls::FilePart& WorkspaceCalls::file_part() {
  if (!files_) files_ = std::make_unique<FilePart>(setup_);
  return *files_;
}

WorkspaceCalls::GitPart& WorkspaceCalls::git_part() {
  if (!git_) git_ = std::make_unique<GitPart>(setup_);
  return *git_;
}

WorkspaceCalls::ShellPart& WorkspaceCalls::shell_part() {
  if (shells_) return *shells_;
  shells_ = std::make_unique<ShellPart>(setup_);
  shells_->shells.set_on_news([this](ShellId shell) {
    if (on_shell_news_) on_shell_news_(shell);
  });
  return *shells_;
}

std::size_t WorkspaceCalls::shells_open() const {
  return shells_ ? shells_->shells.list().size() : 0;
}

void WorkspaceCalls::set_on_shell_news(Shells::OnNews on_news) {
  on_shell_news_ = std::move(on_news);
}

void WorkspaceCalls::call(std::string_view method, std::string_view params, Reply reply) {
  if (method.starts_with("fs.") && call_files(method.substr(3), params, reply)) return;
  if (method.starts_with("git.") && call_git(method.substr(4), params, reply)) return;
  if (method.starts_with("shell.") && call_shells(method.substr(6), params, reply)) return;
  reply(fail(Code::invalid_argument, "unknown method '" + escape_name(method.substr(0, 64)) + "'"));
}

// Each returns false and leaves the reply untouched if it does not know the method.

bool WorkspaceCalls::call_files(std::string_view method, std::string_view params, Reply& reply) {
  FileCalls& calls = file_part().calls;
  if (method == "list") {
    reply(calls.list(params));
  } else if (method == "stat") {
    reply(calls.stat(params));
  } else if (method == "read") {
    reply(calls.read(params));
  } else if (method == "write") {
    reply(calls.write(params));
  } else if (method == "mkdir") {
    reply(calls.make_folder(params));
  } else if (method == "remove") {
    calls.remove(params, std::move(reply));
  } else if (method == "rename") {
    reply(calls.rename(params));
  } else if (method == "search") {
    git_part().search.search(params, std::move(reply));
  } else if (method == "search_cancel") {
    reply(git_part().search.cancel(params));
  } else {
    return false;
  }
  return true;
}

bool WorkspaceCalls::call_git(std::string_view method, std::string_view params, Reply& reply) {
  GitPart& git = git_part();
  if (method == "status") {
    git.calls.status(params, std::move(reply));
  } else if (method == "diff") {
    git.calls.diff(params, std::move(reply));
  } else if (method == "log") {
    git.calls.log(params, std::move(reply));
  } else if (method == "show") {
    git.calls.show(params, std::move(reply));
  } else if (method == "stage") {
    git.calls.stage(params, std::move(reply));
  } else if (method == "unstage") {
    git.calls.unstage(params, std::move(reply));
  } else if (method == "commit") {
    git.calls.commit(params, std::move(reply));
  } else if (method == "worktree_list") {
    git.worktrees.list(params, std::move(reply));
  } else if (method == "worktree_add") {
    git.worktrees.add(params, std::move(reply));
  } else if (method == "worktree_remove") {
    git.worktrees.remove(params, std::move(reply));
  } else {
    return false;
  }
  return true;
}

bool WorkspaceCalls::call_shells(std::string_view method, std::string_view params, Reply& reply) {
  ShellCalls& calls = shell_part().calls;
  if (method == "open") {
    reply(calls.open(params));
  } else if (method == "input") {
    reply(calls.input(params));
  } else if (method == "resize") {
    reply(calls.resize(params));
  } else if (method == "read") {
    reply(calls.read(params));
  } else if (method == "close") {
    reply(calls.close(params));
  } else if (method == "list") {
    reply(calls.list(params));
  } else {
    return false;
  }
  return true;
}

}  // namespace perdure
