// The outpost, through which a daemon works on another host. It starts agentctls there, forwards
// their sockets, reports whether they live, and sends the spools of dead ones. They do not depend
// on it: when it ends, they continue, and its successor finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "core/session/values.h"
#include "core/wire/agentctl/hidden_folders.h"
#include "core/wire/outpost.h"
#include "env/env.h"
#include "env/host.h"
#include "env/link.h"
#include "env/process.h"

namespace perdure {

struct OutpostPorts {
  Loop& loop;
  Processes& processes;
  Host& host;
  Files& files;
  using OnWorkspace = std::move_only_function<void(Result<Workspace>)>;
  struct Worktree {
    SessionId session;
    std::string repository;
    std::string path;
    std::string branch;
  };
  std::function<void(Worktree order, OnWorkspace done)> make_worktree;
  // As in daemon/api/world.h, for the outpost's own folder.
  std::function<Result<SessionId>(const std::string& cwd)> folder_owner = {};
};

struct OutpostSetting {
  std::string folder;  // its own private folder on this host
  HiddenFolders hide;  // hidden from agents: that folder
  Hash secret;         // SHA-256 of it
  std::vector<std::string> agentctl_command;
  std::map<std::string, std::string> environment;  // for agents, unless the daemon sets a variable
  std::string build;
  std::string host_boot;
};

class OutpostConnection;

class Outpost {
 public:
  // The ports must outlive it. Destroying it closes every connection and leaves agentctls running.
  Outpost(OutpostPorts ports, OutpostSetting setting);
  ~Outpost();

  // Accepts a caller. It can do nothing before it has proved the secret. `source`: by which callers
  // are counted.
  void on_link(std::unique_ptr<Link> link, const std::string& source);
  std::size_t connections() const { return connections_.size(); }

  using OnReply = std::move_only_function<void(Result<std::string>)>;
  // One call of an authenticated caller; the result is JSON. Answers now or later.
  void run(OutpostCall call, OnReply done);

 private:
  friend class OutpostConnection;
  class Start;

  std::string run_folder(const std::string& owner) const;
  std::string spool_folder(const OutpostCall& call) const;
  std::string records_folder(const std::string& owner) const;
  Result<> make_folders(const std::string& owner);
  void start(OutpostCall call, OnReply done);
  void started(const OutpostCall& call, const std::string& answer);
  Result<std::string> life(const OutpostCall& call);
  Result<std::string> kill(const OutpostCall& call);
  Result<std::string> list(const OutpostCall& call);
  Result<std::string> read(const OutpostCall& call);
  Result<std::string> remove(const OutpostCall& call);
  Result<std::string> forget(const OutpostCall& call);
  Result<std::string> answer(const OutpostCall& call);
  Result<> check_folder(const std::string& cwd, SessionId session);
  void workspace(OutpostCall call, OnReply done);
  void forget_connection(std::uint64_t number);
  bool drop_stranger(const std::string* source);

  OutpostPorts ports_;
  OutpostSetting setting_;
  std::vector<OutpostConnection*> strangers_;  // a part of connections_, in order of arrival
  std::map<std::uint64_t, std::unique_ptr<OutpostConnection>> connections_;
  std::uint64_t last_connection_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Start>> starts_;
  std::uint64_t last_start_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
