// The machine with real agentctls: the supervisor's code in simulated processes, the executors'
// code in the daemon, and bytes between them. Judges what only it can see: one agent per session
// (PROC1), processes that must end together (PROC4), frames lost on the way (PROC5), leftovers
// (PROC6).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/hosting/local_agentctls.h"
#include "env/host.h"
#include "sim/actors/sim_agentctl.h"
#include "sim/world/host.h"
#include "sim/world/machine.h"
#include "sim/world/universe.h"

namespace perdure::sim {

class RealHost final : public Host, private AgentctlListener {
 public:
  RealHost(Universe& universe, HostWatcher& watcher) : machine_(universe), watcher_(watcher) {}

  std::unique_ptr<AgentctlPort> make_port(LifePtr life, Loop& loop,
                                          IsStillOurs is_still_ours) override;
  void reboot() override;
  void heal() override;
  void maybe_hurt() override;
  void reap() override;
  void check_quiet() override;
  bool lives(const ExecKey& exec) const override;
  bool was_found(const ExecKey& exec, const LifePtr& life) const override;
  const Frame* find_frame(const ExecKey& exec, FrameNo number) const override;

 private:
  class Port;
  class Launcher;
  class DaemonProcesses;
  class DaemonHost;

  // One execution, for the whole seed.
  struct Execution {
    std::unique_ptr<SimAgentctl> agentctl;  // null: dead and reaped
    Bootstrap bootstrap;
    std::vector<Frame> frames;
    std::string said;  // by the living agent, in all its turns
    bool lossless = true;
    std::uint64_t found_by = 0;  // the daemon life that attached
    bool stop_asked = false;
  };

  Result<Bootstrap> make_bootstrap(const LaunchSpec& spec);
  Result<BootstrapAnswer> start_agentctl(Bootstrap bootstrap, std::vector<std::string> environment);
  SimAgentHome& home(SessionId session);
  void check_said(const ExecKey& exec, Execution& execution);
  void check_steered(const ExecKey& exec, MessageId message);

  void on_frame_spooled(const ExecKey& exec, FrameNo number, std::string_view frame) override;
  void on_command_acted(const ExecKey& exec, const SendCommand& command) override;
  void on_prompt_given(const ExecKey& exec, std::uint64_t prompt) override;
  void on_agent_spawned(const ExecKey& exec, const DrawnSwitches& drawn) override;
  void on_leaving(const ExecKey& exec, const Leaving& leaving) override;

  Machine machine_;
  HostWatcher& watcher_;
  std::map<SessionId, SimAgentHome> homes_;
  std::map<ExecKey, Execution> executions_;
  std::set<std::pair<SessionId, std::uint64_t>> prompts_given_;
  std::map<MessageId, std::uint64_t> steered_;  // prompts that an agentctl was commanded to steer
};

}  // namespace perdure::sim
