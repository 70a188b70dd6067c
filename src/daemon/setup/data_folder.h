// The data folder: its place, its contents and its holder. One daemon uses it at a time, ensured by
// a file lock, never by a pid. Verbs that work without a daemon hold the same lock.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "core/wire/agentctl/hidden_folders.h"
#include "env/posix/files/file_lock.h"
#include "env/posix/files/folder.h"

namespace perdure {

// Places from this process's environment; creates nothing.
struct Places {
  std::string data;
  std::string config;
  std::string home;  // the user's: HOME, otherwise from the user database (D9)
  std::string user;
};
// unavailable: neither PERDURE_HOME nor a home folder is known.
Result<Places> find_places();

// Syncs the file's bytes, or a folder's creations, renames and removals, to disk.
Result<> sync_path(const std::string& path);
// Syncs every file and folder below it to disk.
Result<> sync_tree(const std::string& path);

class DataFolder {
 public:
  // Creates what is missing, all of it 0700. denied: it belongs to another user, or others have
  // access to it; unavailable: it cannot be created or written (S12).
  static Result<std::unique_ptr<DataFolder>> open(const std::string& path);

  // From now on everything of executions is in that folder: agentctls' sockets and locks, spools,
  // environments, and folders made for sessions. Daemons that share it adopt each other's agents.
  // denied: others have access to it; invalid_argument: it is a data folder.
  Result<> share_executions(const std::string& folder);
  // The name of the place where executions live; the first daemon creates it.
  Result<std::string> home() const;
  bool shares_executions() const { return executions_ != nullptr; }
  const std::string& executions() const { return executions_ ? executions_path_ : path_; }

  // conflict: another daemon, or a verb that works without one, holds the lock.
  Result<> lock();

  const std::string& path() const { return path_; }
  // Distinguishes the folder of executions from all others on this machine, including copies of it.
  // It stays the same if the folder is moved.
  std::string identity() const;
  // The folders to hide from agents, wherever their paths lead now.
  HiddenFolders hidden() const;
  std::string run() const { return path_ + "/run"; }
  std::string agentctl_run() const { return executions() + "/run/agentctl"; }
  // For executions in containers, one folder per session: each sees only its own.
  std::string container_run() const { return executions() + "/run/containers"; }
  std::string spool() const { return executions() + "/spool"; }
  std::string environments() const { return executions() + "/env"; }
  std::string workspaces() const { return executions() + "/workspaces"; }
  std::string worktrees() const { return executions() + "/worktrees"; }
  std::string programs() const { return path_ + "/programs"; }
  std::string probes() const { return path_ + "/probes"; }
  std::string remotes() const { return path_ + "/remotes"; }
  std::string logs() const { return path_ + "/log"; }

  // The admin token; created at the first start, 0600.
  Result<std::string> token();
  // The key that derives the secrets of wait tokens and agentctls; created at the first start,
  // after the store exists.
  Result<std::string> key();
  // S7: whether that key exists. If so, a missing store does not mean a first start.
  bool was_used() const;

 private:
  DataFolder(std::string path, std::unique_ptr<PosixFolder> folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  Result<std::string> secret_file(const std::string& name, std::string_view prefix);

  std::string path_;
  std::unique_ptr<PosixFolder> folder_;
  std::unique_ptr<PosixFolder> executions_;  // null: the data folder
  std::string executions_path_;
  std::optional<FileLock> lock_;
};

}  // namespace perdure
