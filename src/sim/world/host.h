// The machine as the rest of the simulator sees it: it outlives the daemons and holds the agentctls
// that they start. It knows the true state of processes, which no daemon can.
#pragma once

#include <memory>

#include "daemon/runtime/ports.h"
#include "env/env.h"
#include "sim/world/universe.h"

namespace perdure::sim {

// Receives the host's reports; the judge implements it.
class HostWatcher {
 public:
  virtual ~HostWatcher() = default;
  // The daemon starts an execution.
  virtual void on_start(const LaunchSpec& spec) = 0;
  // An agentctl executes a command.
  virtual void on_command_acted(const ExecKey& exec, const SendCommand& command) = 0;
  // The daemon reports that the journal contains everything up to this frame.
  virtual void on_frames_acked(const ExecKey& exec, FrameNo frame) = 0;
  // Whether a person declared this execution dead, rightly or not.
  virtual bool was_declared_dead(const ExecKey& exec) = 0;
  // Nothing acts for a session with a damaged journal until it is repaired or deleted.
  virtual bool is_damaged(SessionId session) const = 0;
  // Whether its end is in the journal with proof.
  virtual bool has_ended(const ExecKey& exec) = 0;
};

// The Agentctls port of one daemon life.
class AgentctlPort : public Agentctls {
 public:
  // Sets the receiver; call it before anything else.
  virtual void set_events(AgentctlEvents& events) = 0;
};

// With several daemons: whether this lease of a session is still valid.
using IsStillOurs = std::function<bool(SessionId session, std::uint64_t epoch)>;

class Host {
 public:
  virtual ~Host() = default;
  virtual std::unique_ptr<AgentctlPort> make_port(LifePtr life, Loop& loop,
                                                  IsStillOurs is_still_ours) = 0;
  // Power off and on: every process dies, every spool stays.
  virtual void reboot() = 0;
  // Ends all faults: paused processes continue.
  virtual void heal() = 0;
  // May hurt one of the processes.
  virtual void maybe_hurt() = 0;
  // Between two steps: removes the remains of dead processes.
  virtual void reap() {}
  // At rest: nothing of ended executions is left (PROC6).
  virtual void check_quiet() {}

  // Whether any process of the execution is alive.
  virtual bool lives(const ExecKey& exec) const = 0;
  // Whether this daemon life has learned the state of the execution.
  virtual bool was_found(const ExecKey& exec, const LifePtr& life) const = 0;
  // The frame that the agentctl wrote with this number; null if it never did.
  virtual const Frame* find_frame(const ExecKey& exec, FrameNo number) const = 0;
};

}  // namespace perdure::sim
