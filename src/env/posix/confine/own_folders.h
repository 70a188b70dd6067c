// Decides which folders can be working folders: none of Perdure's own, except those made for a
// session, and none on a file system of the kernel (kernel_files.h). An agent sees its working
// folder even if everything else is hidden, so this check decides what it sees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"

namespace perdure {

class OwnFolders {
 public:
  // Absolute paths: the data folder, and a shared folder of executions if there is one.
  explicit OwnFolders(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  // The session for which the folder was made: `cwd` names its workspace or worktree, or a folder
  // in it. A null id: `cwd` is unrelated to these folders. Symlinks are followed, but a session's
  // folder must be named directly and not through a symlink. invalid_argument: it is one of these
  // folders, or is inside one, or contains one; or it is on a file system of the kernel.
  // workspace_missing: the folder does not exist.
  Result<SessionId> session_of(const std::string& cwd) const;

  // The same for a folder that was opened already: `real` is the target of `cwd` at that time.
  Result<SessionId> session_of(const std::string& cwd, const std::string& real) const;

 private:
  std::vector<std::string> paths_;
};

// The session for which Perdure on any host made that folder, or one above it, by its name alone; a
// null id: none.
SessionId named_session(std::string_view cwd);

// The path with every symlink followed; empty: it leads nowhere.
std::string real_path(const std::string& path);

}  // namespace perdure
