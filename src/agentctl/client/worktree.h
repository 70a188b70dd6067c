// Creates worktrees for sessions: a branch of the user's repository, checked out below the data
// folder, so that agents do not interfere with each other. An agent may control the repository, so
// its git runs in perdure-agentctl, confined as the agent is, and never in this process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/session/values.h"
#include "core/wire/agentctl/hidden_folders.h"
#include "env/env.h"
#include "env/process.h"

namespace perdure {

class Worktrees {
 public:
  struct Ports {
    Loop& loop;
    Processes& processes;
  };
  struct Order {
    SessionId session;
    std::string repository;  // a folder in it
    std::string path;        // the worktree's path; its parent exists
    std::string branch;
    std::string git_folder = {};  // the `.git` that it must belong to; empty: any
  };
  using OnWorktree = std::move_only_function<void(Result<Workspace>)>;

  struct Setting {
    std::vector<std::string> agentctl_command;
    std::vector<std::string> environment;  // NAME=value: git's environment
    HiddenFolders hide;
  };
  Worktrees(Ports ports, Setting setting);
  ~Worktrees();

  // Creates the branch at HEAD, or uses an existing one that is not checked out. conflict contains
  // git's own message. If the path already has such a worktree, returns that one.
  void add(Order order, OnWorktree done);

 private:
  class Making;

  Ports ports_;
  Setting setting_;
  std::map<std::uint64_t, std::unique_ptr<Making>> running_;
  std::uint64_t last_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
