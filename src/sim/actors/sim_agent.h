// A simulated agent process: the test agent's core behind two pipes of limited size. Like a real
// one, an agent blocks if its output is not read, and a writer blocks if the agent does not read.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "env/process.h"
#include "sim/world/machine.h"
#include "sim/world/universe.h"
#include "testing/agent/test_agent.h"

namespace perdure::sim {

struct SimAgentSetup {
  testagent::TestAgentSetup agent;
  testagent::SharedHome& home;
  SpawnSpec spec;
  LifePtr owner;                                         // whose loop receives its events
  std::function<void(std::string_view bytes)> on_input;  // observes its input
};

class SimAgent : public std::enable_shared_from_this<SimAgent> {
 public:
  SimAgent(Machine& machine, SimAgentSetup setup, ProcessEvents& events);

  // Starts running.
  void begin();
  const ProcPtr& proc() const { return proc_; }
  // The spawner's handle; destroying it kills the group.
  std::unique_ptr<Process> make_handle();

 private:
  class Handle;

  void write(std::string_view bytes);
  void close_input();
  void signal(int number);
  void set_reading(bool reads);
  void leave();  // its handle was destroyed

  void later(std::int64_t delay_ms, void (SimAgent::*then)());
  // Like later(), but for its owner: waits while the owner is paused, and ends with it.
  void tell_later(std::int64_t delay_ms, void (SimAgent::*then)());

  // The agent's side.
  void run();
  void run_later(std::int64_t delay_ms);
  void take_input();
  void take_acts();
  void do_acts();
  void spawn_child(testagent::ChildKind kind);
  void end(ProcessExit exit);
  bool is_blocked() const { return !acts_.empty(); }
  std::int64_t now_ms() const;

  // The owner's side.
  void read_later();
  void read();
  void read_errors();
  void tell_end();
  void tell_exit();

  Machine& machine_;
  Universe& universe_;
  LifePtr owner_;
  ProcessEvents* events_;
  std::function<void(std::string_view)> on_input_;
  ProcPtr proc_;
  std::unique_ptr<testagent::MemoryHome> home_;  // its locks are released with the process
  testagent::TestAgent agent_;
  std::deque<testagent::Act> acts_;  // waiting for room in the pipe
  std::string input_;
  bool input_closed_ = false;
  bool input_end_seen_ = false;
  bool term_pending_ = false;
  std::string output_;  // in the pipe
  std::string errors_;
  bool reads_ = true;
  bool run_posted_ = false;
  bool read_posted_ = false;
  std::uint64_t wake_ = 0;  // the number of the last timer
  std::optional<ProcessExit> exit_;
};

}  // namespace perdure::sim
