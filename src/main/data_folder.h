// The data folder: where it is, what is in it, and who holds it. One daemon has it at a time, by a
// lock on a file, never by a pid; the same lock is held by verbs that work without a daemon.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "env_posix/file_lock.h"
#include "env_posix/folder.h"
#include "wire/hidden_folders.h"

namespace perdure {

// What the environment of this process says; nothing is made.
struct Places {
  std::string data;
  std::string config;
  std::string home;  // of the user: HOME, else the user database (D9)
  std::string user;
};
// unavailable: neither PERDURE_HOME nor a home folder is known.
Result<Places> find_places();

// The bytes of that file are on the disk, or what was made, moved or taken away in that folder is.
Result<> sync_path(const std::string& path);
// Every file and folder from there on down is on the disk.
Result<> sync_tree(const std::string& path);

class DataFolder {
 public:
  // Makes what is missing, all of it 0700. denied: it belongs to somebody else, or others may look
  // into it; unavailable: it cannot be made or written (S12).
  static Result<std::unique_ptr<DataFolder>> open(const std::string& path);

  // From here on what belongs to executions is in that folder: agentctls' sockets and locks,
  // spools, environments, and folders made for sessions. Daemons that share it adopt each other's
  // agents. denied: others may look into it; invalid_argument: it is a data folder.
  Result<> share_executions(const std::string& folder);
  // Names the place where executions live; made once, whoever comes first.
  Result<std::string> home() const;
  bool shares_executions() const { return executions_ != nullptr; }
  const std::string& executions() const { return executions_ ? executions_path_ : path_; }

  // conflict: another daemon, or a verb that works without one, has it.
  Result<> lock();

  const std::string& path() const { return path_; }
  // Tells the folder of executions from every other one of this machine, a copy of it among them;
  // it may be moved.
  std::string identity() const;
  // What agents do not see: these folders, wherever their paths lead by now.
  HiddenFolders hidden() const;
  std::string run() const { return path_ + "/run"; }
  std::string agentctl_run() const { return executions() + "/run/agentctl"; }
  // Of executions in containers, a folder a session: each sees its own and no other.
  std::string container_run() const { return executions() + "/run/containers"; }
  std::string spool() const { return executions() + "/spool"; }
  std::string environments() const { return executions() + "/env"; }
  std::string workspaces() const { return executions() + "/workspaces"; }
  std::string worktrees() const { return executions() + "/worktrees"; }
  std::string programs() const { return path_ + "/programs"; }
  std::string probes() const { return path_ + "/probes"; }
  std::string remotes() const { return path_ + "/remotes"; }
  std::string logs() const { return path_ + "/log"; }

  // The admin token; made at the first start, 0600.
  Result<std::string> token();
  // The key that makes the secrets of wait tokens and of agentctls; made at the first start, once
  // there is a store.
  Result<std::string> key();
  // S7: that key is here, so that a missing store is no first start.
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
