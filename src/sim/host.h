// The machine as the rest of the simulator sees it: it outlives the daemons and holds whatever
// agentctls they start. What happens on it is known here for certain, and to no daemon.
#pragma once

#include <memory>

#include "env/env.h"
#include "runtime/ports.h"
#include "sim/universe.h"

namespace perdure::sim {

// What the host reports to the judge.
class HostWatcher {
 public:
  virtual ~HostWatcher() = default;
  // The daemon has an execution started.
  virtual void on_start(const LaunchSpec& spec) = 0;
  // An agentctl acts on a command, now.
  virtual void on_command_acted(const ExecKey& exec, const SendCommand& command) = 0;
  // The daemon says that everything up to this frame is in the journal.
  virtual void on_frames_acked(const ExecKey& exec, FrameNo frame) = 0;
  // A person called this execution dead, rightly or not.
  virtual bool was_declared_dead(const ExecKey& exec) = 0;
  // Nobody acts for a session whose journal is damaged, until it is repaired or deleted.
  virtual bool is_damaged(SessionId session) const = 0;
  // Its end is in the journal, and was proved.
  virtual bool has_ended(const ExecKey& exec) = 0;
};

// The Agentctls of one daemon's life.
class AgentctlPort : public Agentctls {
 public:
  // Whom to tell; before any other call.
  virtual void set_events(AgentctlEvents& events) = 0;
};

// Of several daemons: whether the lease of a session stands.
using IsStillOurs = std::function<bool(SessionId session, std::uint64_t epoch)>;

class Host {
 public:
  virtual ~Host() = default;
  virtual std::unique_ptr<AgentctlPort> make_port(LifePtr life, Loop& loop,
                                                  IsStillOurs is_still_ours) = 0;
  // Power off and on: every process dies, every spool stays.
  virtual void reboot() = 0;
  // No more faults: paused processes go on.
  virtual void heal() = 0;
  // Something happens to a process now and then.
  virtual void maybe_hurt() = 0;
  // Between two steps: takes away what is left of the dead.
  virtual void reap() {}
  // At rest: nothing is left of what has ended (PROC6).
  virtual void check_quiet() {}

  // Any process of the execution lives.
  virtual bool lives(const ExecKey& exec) const = 0;
  // This life of the daemon was told where it stands with the execution.
  virtual bool was_found(const ExecKey& exec, const LifePtr& life) const = 0;
  // What the agentctl wrote under this number; null when it never did.
  virtual const Frame* find_frame(const ExecKey& exec, FrameNo number) const = 0;
};

}  // namespace perdure::sim
