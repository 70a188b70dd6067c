// Worktrees that are made for sessions: a branch of the user's repository, checked out below the
// data folder, so that agents do not step on each other's feet.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/env.h"
#include "env/process.h"
#include "session/values.h"

namespace perdure {

class Worktrees {
 public:
  struct Ports {
    Loop& loop;
    Processes& processes;
  };
  struct Order {
    std::string repository;  // a folder in it
    std::string path;        // where it goes; its parent exists
    std::string branch;
  };
  using OnWorktree = std::move_only_function<void(Result<Workspace>)>;

  // The environment that git is given.
  struct Setting {
    std::string search_path;
    std::string home;
  };
  Worktrees(Ports ports, Setting setting);
  ~Worktrees();

  // A branch of that name is made at HEAD, or taken when it is there and checked out nowhere.
  // conflict holds git's own words. A worktree that is there at that path already is given again.
  void add(Order order, OnWorktree done);

 private:
  class Git;

  Ports ports_;
  Setting setting_;
  std::map<std::uint64_t, std::unique_ptr<Git>> running_;
  std::uint64_t last_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
