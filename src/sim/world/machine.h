// A simulated machine except for its daemon: processes by number and environment, folders, sockets
// and locks. It outlives every process; after a process's life ends, its code has no more effect
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/folder.h"
#include "env/link.h"
#include "env/process.h"
#include "sim/world/universe.h"

namespace perdure::sim {

struct Proc {
  std::int64_t pid = 0;
  std::int64_t group = 0;
  std::uint64_t started = 0;
  std::vector<std::string> environment;
  std::shared_ptr<Life> life = std::make_shared<Life>();
  // Called once, when a signal kills it.
  std::function<void(int signal)> on_killed;

  bool is_alive() const { return !life->dead; }
};
using ProcPtr = std::shared_ptr<Proc>;

// Files of one folder, by name.
using FolderFiles = std::map<std::string, std::string>;

class Machine {
 public:
  explicit Machine(Universe& universe) : universe(universe) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // A new process; group 0: its own group. Numbers are reused.
  ProcPtr add(std::vector<std::string> environment, std::int64_t group);
  // It ends at once and loses its locks. No effect if it is dead.
  void kill(const ProcPtr& proc, int signal);
  void kill_group(std::int64_t group, int signal);
  // It ended on its own.
  void exited(const ProcPtr& proc);
  // Kills every process with this in its environment, except one. Returns how many still live.
  std::size_t kill_marked(const std::string& mark, const ProcPtr& but);
  bool any_lives(const std::string& mark) const;
  // The processes with a family's mark, without its root.
  ProcessSet offspring(const Family& family) const;
  // Like Processes::signal_each(): every signal except 0 ends a simulated process.
  ProcessSet signal_each(const ProcessSet& processes, int number);
  ProcPtr find(std::int64_t pid) const;

  // Returns false if a living process has it.
  bool take_lock(const std::string& name, const ProcPtr& by);
  bool has_locks(const ProcPtr& by) const;

  // Every process dies; files stay.
  void reboot();

  struct Socket {
    ProcPtr listener;
    std::function<void(std::unique_ptr<Link>)> on_link;
  };
  using SocketName = std::pair<std::string, std::string>;  // folder, name

  Universe& universe;
  std::map<SocketName, Socket> sockets;  // a dead listener's name stays
  std::map<std::string, std::shared_ptr<FolderFiles>> folders;

 private:
  std::map<std::int64_t, ProcPtr> procs_;
  std::map<std::string, ProcPtr> locks_;
  std::int64_t last_pid_ = 100;
};

// A process's folder access. Written data stays when the process dies, even during a write.
class SimFolder final : public Folder {
 public:
  // Called for each complete or partial write, before the writer returns.
  using OnAppend = std::function<void(const std::string& name, std::string_view bytes)>;
  // Decides how much of a write is done; if less than all of it, the writer dies there.
  using DrawCut = std::function<std::size_t(std::size_t bytes)>;

  SimFolder(Universe& universe, LifePtr life, std::shared_ptr<FolderFiles> files)
      : universe_(universe), life_(std::move(life)), files_(std::move(files)) {}
  void set_hooks(OnAppend on_append, DrawCut draw_cut) {
    on_append_ = std::move(on_append);
    draw_cut_ = std::move(draw_cut);
  }

  Result<std::vector<std::string>> list() override;
  Result<> append(const std::string& name, std::string_view bytes) override;
  Result<std::string> read(const std::string& name, std::uint64_t offset,
                           std::size_t bytes_max) override;
  Result<std::uint64_t> size(const std::string& name) override;
  Result<> truncate(const std::string& name, std::uint64_t bytes) override;
  Result<> remove(const std::string& name) override;

 private:
  Universe& universe_;
  LifePtr life_;
  std::shared_ptr<FolderFiles> files_;
  OnAppend on_append_;
  DrawCut draw_cut_;
};

}  // namespace perdure::sim
