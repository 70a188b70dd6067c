#include "sim/actors/sim_agent.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

namespace perdure::sim {
namespace {

constexpr std::size_t pipe_bytes = 64UL << 10;
constexpr std::int64_t wall_base_ms = 1'790'000'000'000;  // the clock of agents never jumps

}  // namespace

class SimAgent::Handle final : public Process {
 public:
  explicit Handle(std::shared_ptr<SimAgent> agent) : agent_(std::move(agent)) {}
  ~Handle() override { agent_->leave(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  std::int64_t pid() const override { return agent_->proc_->pid; }
  void write(std::string_view bytes) override { agent_->write(bytes); }
  std::size_t unwritten_bytes() const override {
    return agent_->input_.size() - std::min(agent_->input_.size(), pipe_bytes);
  }
  void close_input() override { agent_->close_input(); }
  void pause_output() override { agent_->set_reading(false); }
  void resume_output() override { agent_->set_reading(true); }
  void signal(int number) override { agent_->signal(number); }
  void resize(TerminalSize) override {}

 private:
  std::shared_ptr<SimAgent> agent_;
};

SimAgent::SimAgent(Machine& machine, SimAgentSetup setup, ProcessEvents& events)
    : machine_(machine),
      universe_(machine.universe),
      owner_(std::move(setup.owner)),
      events_(&events),
      on_input_(std::move(setup.on_input)),
      proc_(machine.add(std::move(setup.spec.environment), 0)),
      home_(std::make_unique<testagent::MemoryHome>(setup.home)),
      agent_(
          [&] {
            setup.agent.now_ms = now_ms();
            return std::move(setup.agent);
          }(),
          *home_) {}

std::int64_t SimAgent::now_ms() const { return wall_base_ms + universe_.scheduler.now_ms(); }

void SimAgent::begin() {
  proc_->on_killed = [agent = weak_from_this()](int number) {
    const auto self = agent.lock();
    if (!self) return;
    self->acts_.clear();
    self->end({.signal = number});
  };
  take_acts();
  run_later(universe_.delay(100));
}

std::unique_ptr<Process> SimAgent::make_handle() {
  return std::make_unique<Handle>(shared_from_this());
}

void SimAgent::later(std::int64_t delay_ms, void (SimAgent::*then)()) {
  universe_.after(delay_ms, [self = shared_from_this(), then] {
    if (self->proc_->is_alive()) (self.get()->*then)();
  });
}

void SimAgent::tell_later(std::int64_t delay_ms, void (SimAgent::*then)()) {
  universe_.after_in(owner_, delay_ms, [self = shared_from_this(), then] {
    if (self->events_) (self.get()->*then)();
  });
}

void SimAgent::write(std::string_view bytes) {
  if (owner_->dead || !proc_->is_alive()) return;
  on_input_(bytes);
  input_ += bytes;
  run_later(universe_.delay(20));
}

void SimAgent::close_input() {
  if (owner_->dead) return;
  input_closed_ = true;
  run_later(universe_.delay(20));
}

void SimAgent::signal(int number) {
  if (owner_->dead) return;
  if (number == SIGTERM && proc_->is_alive()) {
    term_pending_ = true;
    run_later(universe_.delay(20));
    return;
  }
  machine_.kill_group(proc_->group, number);
}

void SimAgent::set_reading(bool reads) {
  reads_ = reads;
  if (reads_) read_later();
}

void SimAgent::leave() {
  events_ = nullptr;
  if (!owner_->dead) machine_.kill_group(proc_->group, SIGKILL);
}

void SimAgent::run_later(std::int64_t delay_ms) {
  if (std::exchange(run_posted_, true)) return;
  later(delay_ms, &SimAgent::run);
}

// One turn of the agent's own loop: the time, a signal, or some input.
void SimAgent::run() {
  run_posted_ = false;
  if (is_blocked()) return;  // in write(2); continues when its output is read
  agent_.tick(now_ms());
  if (term_pending_) {
    term_pending_ = false;
    agent_.terminate();
  }
  take_input();
  agent_.tick(now_ms());
  take_acts();
}

void SimAgent::take_input() {
  if (!input_.empty() && agent_.reads_stdin()) {
    std::size_t piece = input_.size();
    if (universe_.prng.chance(100'000)) piece = 1 + universe_.prng.below(piece);
    agent_.feed(std::string_view(input_).substr(0, piece));
    input_.erase(0, piece);
  } else if (input_.empty() && input_closed_ && !std::exchange(input_end_seen_, true)) {
    agent_.feed_end();
  }
}

void SimAgent::take_acts() {
  for (testagent::Act& act : agent_.take_acts()) acts_.push_back(std::move(act));
  do_acts();
  if (!proc_->is_alive() || is_blocked()) return;
  const bool more = (!input_.empty() && agent_.reads_stdin()) ||
                    (input_.empty() && input_closed_ && !input_end_seen_);
  if (more) return run_later(universe_.delay(5));
  const std::optional<std::int64_t> at = agent_.wake_at_ms();
  if (!at) return;
  universe_.after(std::max<std::int64_t>(*at - now_ms(), 0) + universe_.delay(3),
                  [self = shared_from_this(), wake = ++wake_] {
                    if (self->proc_->is_alive() && self->wake_ == wake) self->run_later(0);
                  });
}

// In order, as long as the pipe has room.
void SimAgent::do_acts() {
  while (!acts_.empty() && proc_->is_alive()) {
    testagent::Act& act = acts_.front();
    if (auto* out = std::get_if<testagent::WriteStdout>(&act)) {
      const std::size_t room = pipe_bytes - std::min(output_.size(), pipe_bytes);
      output_ += std::string_view(out->bytes).substr(0, room);
      read_later();
      if (out->bytes.size() > room) {
        out->bytes.erase(0, room);
        return;
      }
    } else if (auto* err = std::get_if<testagent::WriteStderr>(&act)) {
      errors_ += err->bytes;
      tell_later(universe_.delay(20), &SimAgent::read_errors);
    } else if (const auto* child = std::get_if<testagent::SpawnChild>(&act)) {
      spawn_child(child->kind);
    } else if (const auto* code = std::get_if<testagent::ExitProcess>(&act)) {
      machine_.exited(proc_);
      end({.code = code->code});
      return;
    } else {
      machine_.kill(proc_, std::get<testagent::KillItself>(act).signal);
      return;
    }
    acts_.pop_front();
  }
}

// Sleeps until it is killed with its group or by its mark.
void SimAgent::spawn_child(testagent::ChildKind kind) {
  const bool in_group = kind == testagent::ChildKind::child;
  machine_.add(proc_->environment, in_group ? proc_->group : 0);
}

void SimAgent::end(ProcessExit exit) {
  acts_.clear();
  home_.reset();
  exit_ = exit;
  universe_.trace.note("agent", static_cast<std::uint64_t>(proc_->pid),
                       [&] { return std::to_string(proc_->pid) + " ends"; });
  tell_later(universe_.delay(50), &SimAgent::tell_end);
}

void SimAgent::read_later() {
  if (output_.empty() || !reads_ || std::exchange(read_posted_, true)) return;
  tell_later(universe_.delay(20), &SimAgent::read);
}

void SimAgent::read() {
  read_posted_ = false;
  if (!reads_ || output_.empty()) return;
  std::size_t piece = output_.size();
  if (universe_.prng.chance(150'000)) piece = 1 + universe_.prng.below(piece);
  const std::string bytes = output_.substr(0, piece);
  output_.erase(0, piece);
  if (proc_->is_alive() && is_blocked()) {
    do_acts();
    if (proc_->is_alive() && !is_blocked()) run_later(0);
  }
  read_later();
  events_->on_output(bytes);
}

void SimAgent::read_errors() {
  if (!errors_.empty()) events_->on_error_output(std::exchange(errors_, {}));
}

// After all of its output.
void SimAgent::tell_end() {
  if (!output_.empty() || !errors_.empty()) {
    if (!errors_.empty()) read_errors();
    return tell_later(1 + universe_.delay(50), &SimAgent::tell_end);
  }
  tell_later(universe_.delay(20), &SimAgent::tell_exit);
  events_->on_output_end();
}

void SimAgent::tell_exit() { std::exchange(events_, nullptr)->on_exit(*exit_); }

}  // namespace perdure::sim
