// A session's workspace as JSON calls: files, git, shells. Works with or without an agent (L20,
// L24) and allocates nothing before its first use.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/workspace/shells/shells.h"
#include "agentctl/workspace/workspace_params.h"
#include "env/env.h"
#include "env/file_tree.h"
#include "env/process.h"

namespace perdure {

struct WorkspaceSetup {
  Loop& loop;
  Processes& processes;
  FileTree& files;
  // Where worktrees are made and removed; null: in the workspace itself.
  FileTree* worktrees = nullptr;
  std::vector<std::string> environment;  // NAME=value, of git and of shells: PATH, HOME, …
  std::vector<std::string> shell = {"/bin/sh"};
};

class WorkspaceCalls {
 public:
  using Reply = WorkspaceReply;

  // Everything that `setup` refers to must outlive this object.
  explicit WorkspaceCalls(WorkspaceSetup setup);
  // Ends shells, searches and git; pending calls get no reply.
  ~WorkspaceCalls();
  WorkspaceCalls(const WorkspaceCalls&) = delete;
  WorkspaceCalls& operator=(const WorkspaceCalls&) = delete;

  // Methods, parameters and results: docs/protocol/workspace.md. The reply comes once, from the
  // loop or before this returns; an error has changed nothing unless it says so. invalid_argument:
  // unknown method or malformed parameters. Blocks on disk I/O at most.
  void call(std::string_view method, std::string_view params_json, Reply reply);

  std::size_t shells_open() const;

  // Called on the loop when a shell has more output or has ended; once until the next read.
  void set_on_shell_news(Shells::OnNews on_news);

 private:
  struct FilePart;
  struct GitPart;
  struct ShellPart;

  bool call_files(std::string_view method, std::string_view params, Reply& reply);
  bool call_git(std::string_view method, std::string_view params, Reply& reply);
  bool call_shells(std::string_view method, std::string_view params, Reply& reply);
  FilePart& file_part();
  GitPart& git_part();
  ShellPart& shell_part();

  WorkspaceSetup setup_;
  Shells::OnNews on_shell_news_;
  std::unique_ptr<GitPart> git_;
  std::unique_ptr<FilePart> files_;
  std::unique_ptr<ShellPart> shells_;
};

}  // namespace perdure
