// What may be a working folder: none of those that Perdure keeps for itself, but for what was made
// for a session there, and none on a file system of the kernel (kernel_files.h). An agent sees its
// working folder whatever else is hidden from it, so that this check decides what it sees.
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

  // The session that the folder was made for: `cwd` names its workspace or worktree, or a folder in
  // there. A null id: `cwd` has nothing to do with these folders. Symlinks are followed, and a
  // folder of a session is only ever named directly, never reached by a symlink.
  // invalid_argument: it is one of these folders, or lies in one, or contains one; or it lies on a
  // file system of the kernel.
  // workspace_missing: there is no such folder.
  Result<SessionId> session_of(const std::string& cwd) const;

  // The same for a folder that was opened already: `real` is where `cwd` led to then.
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
