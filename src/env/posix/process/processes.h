// Real child processes. A child is not reaped while its Process exists: until then its pid and its
// group cannot be reused, so a signal cannot reach another process.
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
#include "env/posix/confine/cgroup.h"
#include "env/posix/confine/limit_group.h"
#include "env/posix/files/fd.h"
#include "env/posix/loop/loop.h"
#include "env/posix/loop/signals.h"
#include "env/posix/process/spawn.h"
#include "env/process.h"

namespace perdure {

class PosixProcess;

struct ProcessesSetting {
  mode_t child_umask = 022;  // detach() narrows our own; children get the user's
  ParentDeath parent_death = ParentDeath::nothing;
  OomCounter oom_counter = OomCounter::find();
};

// Must outlive its processes, and the loop must outlive both. Ignores SIGPIPE in the whole program.
class PosixProcesses final : public Processes {
 public:
  static std::unique_ptr<PosixProcesses> create(EpollLoop& loop, ProcessesSetting setting = {});
  // Waits for those that are being killed, at most kill_wait_ms.
  ~PosixProcesses() override;

  // Adds the codes of spawn_child() to those of env/process.h.
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override;
  // Both block until the processes are gone, at most kill_wait_ms. A process that removed its mark
  // is not found by it, except one that was reparented to us, a subreaper, and has no execution's
  // mark. If the mark is an execution's, its control groups are killed, too.
  std::size_t kill_marked(const std::string& mark) override;
  std::size_t kill_descendants() override;
  ProcessSet offspring(const Family& family) override;
  ProcessSet signal_each(const ProcessSet& processes, int number) override;

  // From now on orphans among our descendants are reparented to us and reaped when they end. All
  // children of this program must then be ours to wait for. Blocks SIGCHLD: call it before creating
  // any thread.
  Result<> become_subreaper();

  // New children start in this group; null: in none. It must outlive this object.
  void set_cgroup(const Cgroup* group);
  // The same with a group that limits them.
  void set_limits(LimitGroup group);
  bool is_limited() const { return limits_.has_value(); }
  std::string limits_met() const override { return limits_ ? limits_->met() : ""; }

  // How many orphans have been reaped.
  std::size_t orphans_reaped() const { return orphans_reaped_; }

 private:
  friend class PosixProcess;
  // A child without a Process: killed, and waited for.
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
  std::vector<int> cgroups_;  // new children move there
  std::optional<LimitGroup> limits_;
  std::map<pid_t, PosixProcess*> living_;
  std::map<pid_t, Leaving> leaving_;
  std::unique_ptr<SignalWatch> child_signals_;  // set by become_subreaper()
  std::size_t orphans_reaped_ = 0;
};

}  // namespace perdure
