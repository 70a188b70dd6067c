// One simulated agentctl process around the real Supervisor: its loop, its spool, its agents. It
// can die at any step, also during a write to its spool; the folder stays.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/supervisor/supervisor.h"
#include "core/wire/agentctl/bootstrap.h"
#include "daemon/runtime/ports.h"
#include "env/process.h"
#include "sim/actors/agent_draw.h"
#include "sim/actors/sim_agent.h"
#include "sim/world/machine.h"

namespace perdure::sim {

// State that one session's agents share across their lives.
struct SimAgentHome {
  testagent::SharedHome shared;
  testagent::Switches abilities;
  std::int64_t broken_until_ms = 0;  // before this, it does not even start
};

// An orderly end of an agentctl, decided by itself or by a daemon.
struct Leaving {
  std::string reason;
  std::int64_t alone_ms = 0;  // how long no daemon has been attached
};

// Events inside an agentctl, at the moment they happen.
class AgentctlListener {
 public:
  virtual ~AgentctlListener() = default;
  virtual void on_frame_spooled(const ExecKey& exec, FrameNo number, std::string_view frame) = 0;
  virtual void on_command_acted(const ExecKey& exec, const SendCommand& command) = 0;
  // A client's prompt number N reaches an agent.
  virtual void on_prompt_given(const ExecKey& exec, std::uint64_t prompt) = 0;
  virtual void on_agent_spawned(const ExecKey& exec, const DrawnSwitches& drawn) = 0;
  // It is about to exit.
  virtual void on_leaving(const ExecKey& exec, const Leaving& leaving) = 0;
};

// A client's prompts begin with `prompt N`. Absent: it was cleared or edited.
std::optional<std::uint64_t> prompt_number(std::string_view text);

class SimAgentctl {
 public:
  SimAgentctl(Machine& machine, ProcPtr self, Bootstrap bootstrap, SimAgentHome& home,
              AgentctlListener& listener);
  ~SimAgentctl();

  // Listens and reports that it is ready.
  void begin();
  const ProcPtr& proc() const { return self_; }
  void pause(std::int64_t for_ms);
  // Kills agents that hang or lie: from now on agents behave.
  void heal();
  BootstrapAnswer answer() const;

 private:
  std::int64_t alone_ms() const;

  class WatchedLink;

  // Its children.
  class Agents final : public Processes {
   public:
    explicit Agents(SimAgentctl& owner) : owner_(owner) {}
    Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override;
    std::size_t kill_marked(const std::string& mark) override;
    std::size_t kill_descendants() override;
    ProcessSet offspring(const Family& family) override;
    ProcessSet signal_each(const ProcessSet& processes, int number) override;

   private:
    SimAgentctl& owner_;
  };

  Machine::SocketName socket() const {
    return {bootstrap_.run_folder, bootstrap_.exec.text() + ".sock"};
  }
  void on_agent_input(std::string_view bytes);
  void on_append(const std::string& name, std::string_view bytes);
  std::size_t draw_cut(std::size_t bytes);
  void end(const std::string& reason);

  Machine& machine_;
  Universe& universe_;
  ProcPtr self_;
  Bootstrap bootstrap_;
  ExecKey key_;
  SimAgentHome& home_;
  AgentctlListener& listener_;
  LifeLoop loop_;
  Agents agents_;
  SimFolder folder_;
  std::vector<std::pair<ProcPtr, bool>> children_;  // and whether they behave
  std::size_t attached_ = 0;                        // links; all but the last are about to end
  std::int64_t detached_ms_ = 0;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace perdure::sim
