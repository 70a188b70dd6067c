// The machine with simulated agentctls: their spools, and the links to the current daemon, as
// messages at the border of daemon/runtime/ports.h. It outlives the daemons. It reports a death
// only with proof, and only after delivering the spool.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/runtime/ports.h"
#include "sim/actors/agentctl.h"
#include "sim/world/host.h"
#include "sim/world/universe.h"

namespace perdure::sim {

class ScriptedHost final : public Host, public AgentctlWatcher {
 public:
  ScriptedHost(Universe& universe, HostWatcher& watcher) : universe_(universe), watcher_(watcher) {}

  // The calls of one daemon life.
  struct Caller {
    LifePtr life;
    AgentctlEvents* events = nullptr;
  };
  void start(const Caller& caller, const LaunchSpec& spec, std::uint64_t epoch);
  void attach(const Caller& caller, const LaunchSpec& spec, std::uint64_t epoch, FrameNo from);
  void send(const Caller& caller, const ExecKey& exec, const SendCommand& command);
  void ack(const Caller& caller, const ExecKey& exec, FrameNo frame);
  void stop(const Caller& caller, const ExecKey& exec);

  std::unique_ptr<AgentctlPort> make_port(LifePtr life, Loop& loop,
                                          IsStillOurs is_still_ours) override;
  void reboot() override;
  void heal() override;
  void maybe_hurt() override;
  bool lives(const ExecKey& exec) const override;
  bool was_found(const ExecKey& exec, const LifePtr& life) const override;
  const Frame* find_frame(const ExecKey& exec, FrameNo number) const override;

 private:
  AgentHome& home(SessionId session);
  void on_spooled(const ExecKey& exec) override;
  void on_acted(const ExecKey& exec, const SendCommand& command) override;
  void on_died(const ExecKey& exec) override;

  // A connection between a daemon life and an agentctl.
  struct Link {
    Caller caller;
    bool up = true;
    FrameNo sent = 0;
    FrameNo acked = 0;  // the start of the window
    // Messages in transit: each has its time, and they arrive in order.
    std::deque<std::move_only_function<void(AgentctlEvents&)>> to_daemon;
    std::deque<std::move_only_function<void(Agentctl&)>> to_agentctl;
    std::int64_t last_to_daemon_ms = 0;
    std::int64_t last_to_agentctl_ms = 0;
  };
  struct Process {
    std::unique_ptr<Agentctl> agentctl;
    std::shared_ptr<Link> link;
    // The daemon life that receives its events.
    Caller watcher;
    std::uint64_t epoch = 0;
    FrameNo delivered = 0;
    FrameNo acked_by_daemon = 0;
    bool told_attached = false;
    bool told_gone = false;
    bool draining = false;
  };

  bool is_watched(const Process& process) const {
    return process.watcher.life && !process.watcher.life->dead && !process.told_gone;
  }
  void watch(Process& process, const Caller& caller, std::uint64_t epoch, FrameNo from);
  void connect_later(const ExecKey& exec, std::int64_t most_ms);
  void try_connect(const ExecKey& exec, const LifePtr& life);
  void pump(const ExecKey& exec);
  void to_daemon(const ExecKey& exec, const std::shared_ptr<Link>& link,
                 std::move_only_function<void(AgentctlEvents&)> message);
  void to_agentctl(const ExecKey& exec, std::move_only_function<void(Agentctl&)> message);
  void deliver_to_agentctl(const ExecKey& exec, const std::shared_ptr<Link>& link);
  void cut(const ExecKey& exec, const std::shared_ptr<Link>& link);
  void drain(const ExecKey& exec, const LifePtr& life);
  void gone_later(const Caller& caller, const ExecKey& exec, const std::string& proof);
  void end_older_lives(const LaunchSpec& spec);

  Universe& universe_;
  HostWatcher& watcher_;
  std::map<ExecKey, Process> processes_;
  std::map<SessionId, AgentHome> homes_;
};

// The Agentctls port of one daemon life.
class ScriptedPort final : public AgentctlPort {
 public:
  ScriptedPort(Universe& universe, ScriptedHost& host, LifePtr life)
      : universe_(universe), host_(host), caller_{std::move(life)} {}
  void set_events(AgentctlEvents& events) override { caller_.events = &events; }

  void start(const LaunchSpec& spec, std::uint64_t epoch) override;
  void attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) override;
  void send(const ExecKey& exec, const SendCommand& command) override;
  void ack(const ExecKey& exec, FrameNo frame) override;
  void stop(const ExecKey& exec) override;
  // With a single daemon, nothing is ever released.
  void let_go(const ExecKey&) override {}

 private:
  // Called by every effect: the daemon may die just before it.
  bool still_lives();

  Universe& universe_;
  ScriptedHost& host_;
  ScriptedHost::Caller caller_;
};

}  // namespace perdure::sim
