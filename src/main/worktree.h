// Worktrees that are made for sessions: a branch of the user's repository, checked out below the
// data folder, so that agents do not step on each other's feet. The repository may belong to an
// agent: its git runs in perdure-agentctl, confined as the agent is, and never in this process's
// place.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/env.h"
#include "env/process.h"
#include "session/values.h"
#include "wire/hidden_folders.h"

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
    std::string path;        // where it goes; its parent exists
    std::string branch;
    std::string git_folder = {};  // the `.git` that it must belong to; empty: any
  };
  using OnWorktree = std::move_only_function<void(Result<Workspace>)>;

  struct Setting {
    std::vector<std::string> agentctl_command;
    std::vector<std::string> environment;  // NAME=value: what git is given
    HiddenFolders hide;
  };
  Worktrees(Ports ports, Setting setting);
  ~Worktrees();

  // A branch of that name is made at HEAD, or taken when it is there and checked out nowhere.
  // conflict holds git's own words. A worktree that is there at that path already is given again.
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
