// Real child processes. A child stays unreaped for as long as its Process lives: until then its
// number, and that of its group, can belong to nobody else, so that a signal cannot go astray.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "env/process.h"
#include "env_posix/cgroup.h"
#include "env_posix/fd.h"
#include "env_posix/limit_group.h"
#include "env_posix/loop.h"
#include "env_posix/signals.h"
#include "env_posix/spawn.h"

namespace perdure {

class PosixProcess;

struct ProcessesSetting {
  mode_t child_umask = 022;  // detach() narrows our own; children get what the user had
  ParentDeath parent_death = ParentDeath::nothing;
  OomCounter oom_counter = OomCounter::find();
};

// Outlives its processes; the loop outlives both. Ignores SIGPIPE in the whole program.
class PosixProcesses final : public Processes {
 public:
  static std::unique_ptr<PosixProcesses> create(EpollLoop& loop, ProcessesSetting setting = {});
  // Waits for those that are being killed, at most kill_wait_ms.
  ~PosixProcesses() override;

  // Beside the codes of env/process.h those of spawn_child().
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override;
  // Both block until they are gone, at most kill_wait_ms. A process that has no mark any more is
  // not found by it, but for one that fell to us, a subreaper, without the mark of any execution.
  // Where the mark is an execution's, its control groups are ended, too.
  std::size_t kill_marked(const std::string& mark) override;
  std::size_t kill_descendants() override;
  ProcessSet offspring(const Family& family) override;
  ProcessSet signal_each(const ProcessSet& processes, int number) override;

  // Orphans among our descendants fall to us from now on, and are reaped when they end. From here
  // on every child of this program is ours to wait for. Blocks SIGCHLD: call it before any thread
  // is made.
  Result<> become_subreaper();

  // Children go into this group from now on; null: into none. It outlives this object.
  void set_cgroup(const Cgroup* group);
  // The same with a group that limits them.
  void set_limits(LimitGroup group);
  bool is_limited() const { return limits_.has_value(); }
  std::string limits_met() const override { return limits_ ? limits_->met() : ""; }

  // How many orphans have been reaped.
  std::size_t orphans_reaped() const { return orphans_reaped_; }

 private:
  friend class PosixProcess;
  // A child that nobody holds any more: killed, and waited for.
  struct Leaving {
    Fd pidfd;
    Watch watch;
  };

  PosixProcesses(EpollLoop& loop, ProcessesSetting setting)
      : loop_(loop), setting_(std::move(setting)) {}
  void forget(pid_t pid, Fd pidfd);
  bool is_ours(pid_t pid) const { return living_.contains(pid) || leaving_.contains(pid); }
  void reap_orphans();
  std::size_t kill_until_clean(auto&& find);
  void reap_orphans_among_others();

  EpollLoop& loop_;
  ProcessesSetting setting_;
  std::vector<int> cgroups_;  // that children move to
  std::optional<LimitGroup> limits_;
  std::map<pid_t, PosixProcess*> living_;
  std::map<pid_t, Leaving> leaving_;
  std::unique_ptr<SignalWatch> child_signals_;  // once we are a subreaper
  std::size_t orphans_reaped_ = 0;
};

}  // namespace perdure
