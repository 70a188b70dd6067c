#include "sim/world/real_host_port.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/probe.h"
#include "core/wire/agentctl/bootstrap.h"
#include "sim/world/sim_link.h"

namespace perdure::sim {

class RealHost::Launcher::Handle final : public perdure::Process {
 public:
  explicit Handle(std::shared_ptr<Launcher> launcher) : launcher_(std::move(launcher)) {}
  ~Handle() override {
    launcher_->events_ = nullptr;
    if (!launcher_->daemon_->dead) launcher_->host_.machine_.kill(launcher_->proc_, SIGKILL);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  std::int64_t pid() const override { return launcher_->proc_->pid; }
  void write(std::string_view bytes) override {
    if (!launcher_->daemon_->dead) launcher_->input_ += bytes;
  }
  std::size_t unwritten_bytes() const override { return 0; }
  void close_input() override {
    if (!launcher_->daemon_->dead) launcher_->run_later();
  }
  void pause_output() override {}
  void resume_output() override {}
  void signal(int) override { launcher_->host_.machine_.kill(launcher_->proc_, SIGKILL); }
  void resize(TerminalSize) override {}

 private:
  std::shared_ptr<Launcher> launcher_;
};

RealHost::Launcher::Launcher(RealHost& host, LifePtr daemon, const SpawnSpec& spec,
                             ProcessEvents& events)
    : host_(host),
      universe_(host.machine_.universe),
      daemon_(std::move(daemon)),
      events_(&events),
      proc_(host.machine_.add(spec.environment, 0)) {}

std::unique_ptr<perdure::Process> RealHost::Launcher::make_handle() {
  proc_->on_killed = [launcher = weak_from_this()](int signal) {
    if (const auto self = launcher.lock()) self->tell({}, {.signal = signal});
  };
  return std::make_unique<Handle>(shared_from_this());
}

void RealHost::Launcher::run_later() {
  universe_.after(universe_.delay(1000), [self = shared_from_this()] {
    if (self->proc_->is_alive()) self->run();
  });
}

void RealHost::Launcher::run() {
  Prng& prng = universe_.prng;
  const bool fails = prng.chance(universe_.faults.start_fails);
  if (fails && prng.chance(300'000)) return;  // hangs until it is killed
  if (fails && prng.chance(500'000)) return finish("", 1);
  const Result<Bootstrap> bootstrap = decode_bootstrap(input_);
  if (!bootstrap) return finish("", 1);
  const Result<BootstrapAnswer> answer = host_.start_agentctl(*bootstrap, proc_->environment);
  const std::string text = encode_bootstrap_answer(
      answer ? *answer
             : BootstrapAnswer{.code = std::string(code_name(answer.error().code())),
                               .message = answer.error().message()});
  universe_.after(universe_.delay(500), [self = shared_from_this(), text, code = answer ? 0 : 1] {
    if (self->proc_->is_alive()) self->finish(text + "\n", code);
  });
}

void RealHost::Launcher::finish(std::string output, int code) {
  proc_->on_killed = nullptr;
  host_.machine_.exited(proc_);
  tell(std::move(output), {.code = code});
}

void RealHost::Launcher::tell(std::string output, ProcessExit exit) {
  universe_.after_in(daemon_, 0, [self = shared_from_this(), output = std::move(output), exit] {
    if (!self->events_) return;
    if (!output.empty()) self->events_->on_output(output);
    if (self->daemon_->dead || !self->events_) return;
    std::exchange(self->events_, nullptr)->on_exit(exit);
  });
}

Result<std::unique_ptr<perdure::Process>> RealHost::DaemonProcesses::spawn(const SpawnSpec& spec,
                                                                           ProcessEvents& events) {
  Universe& universe = host_.machine_.universe;
  if (!life_->dead) universe.crash_point(CrashPoint::between_effects);
  if (life_->dead) return fail(Code::unavailable, "its process is dead");
  if (universe.prng.chance(universe.faults.start_fails / 4)) {
    return fail(Code::limit_reached, "no more processes");
  }
  return std::make_shared<Launcher>(host_, life_, spec, events)->make_handle();
}

std::size_t RealHost::DaemonProcesses::kill_marked(const std::string& mark) {
  return life_->dead ? 0 : host_.machine_.kill_marked(mark, nullptr);
}

Result<> RealHost::DaemonHost::still_lives() {
  if (!life_->dead) host_.machine_.universe.crash_point(CrashPoint::between_effects);
  if (life_->dead) return fail(Code::unavailable, "its process is dead");
  return {};
}

ProcessLife RealHost::DaemonHost::life(const ProcessIdentity& process) {
  if (process.host_boot != host_.machine_.universe.clock.now().host_boot) return ProcessLife::dead;
  const ProcPtr found = host_.machine_.find(process.pid);
  if (found && found->started != process.started) {
    SIM_PROBE("sim: a number is asked about that another process has now");
  }
  return found && found->started == process.started ? ProcessLife::alive : ProcessLife::dead;
}

Result<std::unique_ptr<Link>> RealHost::DaemonHost::connect(const std::string& folder,
                                                            const std::string& name) {
  Machine& machine = host_.machine_;
  const auto found = machine.sockets.find({folder, name});
  if (life_->dead || found == machine.sockets.end() || !found->second.listener->is_alive()) {
    return fail(Code::not_found, "nobody listens");
  }
  const LifePtr listener = found->second.listener->life;
  auto [mine, theirs] = make_link(machine.universe, {life_, listener});
  // Accepted when the process runs; callers of a paused process wait.
  machine.universe.after_in(listener, machine.universe.delay(10),
                            [&machine, key = found->first, link = std::move(theirs)]() mutable {
                              machine.sockets.at(key).on_link(std::move(link));
                            });
  return std::move(mine);
}

Result<std::unique_ptr<Folder>> RealHost::DaemonHost::open_folder(const std::string& path) {
  const auto found = host_.machine_.folders.find(path);
  if (life_->dead || found == host_.machine_.folders.end()) {
    return fail(Code::not_found, "no such folder");
  }
  return std::make_unique<SimFolder>(host_.machine_.universe, life_, found->second);
}

Result<> RealHost::DaemonHost::remove_folder(const std::string& path) {
  TRY_VOID(still_lives());
  host_.machine_.folders.erase(path);
  return {};
}

Result<> RealHost::DaemonHost::remove_file(const std::string& folder, const std::string& name) {
  TRY_VOID(still_lives());
  host_.machine_.sockets.erase({folder, name});
  return {};
}

RealHost::Port::Port(RealHost& host, LifePtr life, Loop& loop, IsStillOurs is_still_ours)
    : host_(host),
      universe_(host.machine_.universe),
      life_(life),
      processes_(host, life),
      daemon_host_(host, life),
      agentctls_(
          {universe_.clock, loop, processes_, daemon_host_},
          {.agentctl_command = {"perdure-agentctl"},
           .when_stale = universe_.has_several_daemons ? WhenStale::wait : WhenStale::end,
           .is_still_ours = std::move(is_still_ours)},
          {.to_start = [&host](const LaunchSpec& spec) { return host.make_bootstrap(spec); },
           .to_attach =
               [&host](const LaunchSpec& spec) { return host.make_bootstrap(spec).value(); }}) {
  agentctls_.set_events(*this);
}

bool RealHost::Port::still_lives() {
  if (life_->dead) return false;
  universe_.crash_point(CrashPoint::between_effects);
  return !life_->dead;
}

void RealHost::Port::start(const LaunchSpec& spec, std::uint64_t epoch) {
  if (!still_lives()) return;
  host_.watcher_.on_start(spec);
  agentctls_.start(spec, epoch);
}

void RealHost::Port::attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) {
  if (still_lives()) agentctls_.attach(spec, epoch, from);
}

void RealHost::Port::send(const ExecKey& exec, const SendCommand& command) {
  if (!still_lives()) return;
  agentctls_.send(exec, command);
  // A repeat, as from an unreliable transport.
  if (universe_.prng.chance(universe_.faults.link_cut)) agentctls_.send(exec, command);
}

void RealHost::Port::ack(const ExecKey& exec, FrameNo frame) {
  if (!still_lives()) return;
  host_.watcher_.on_frames_acked(exec, frame);
  agentctls_.ack(exec, frame);
}

void RealHost::Port::stop(const ExecKey& exec) {
  if (!still_lives()) return;
  universe_.trace.note("host", exec.gen, [&] { return "stops " + tail(exec.exec); });
  if (const auto at = host_.executions_.find(exec); at != host_.executions_.end()) {
    at->second.stop_asked = true;
  }
  agentctls_.stop(exec);
}

void RealHost::Port::let_go(const ExecKey& exec) {
  universe_.trace.note("host", exec.gen, [&] { return "lets go " + tail(exec.exec); });
  agentctls_.let_go(exec);
}

void RealHost::Port::on_attached(const ExecKey& exec) {
  if (life_->dead) return;
  host_.executions_.at(exec).found_by = life_->number;
  universe_.trace.note("link", exec.gen, [&] { return tail(exec.exec) + " is attached"; });
  events_->on_attached(exec);
}

void RealHost::Port::on_frame(const ExecKey& exec, Frame frame) {
  if (!life_->dead) events_->on_frame(exec, std::move(frame));
}

void RealHost::Port::on_commands_acted(const ExecKey& exec, std::uint64_t number) {
  if (!life_->dead) events_->on_commands_acted(exec, number);
}

void RealHost::Port::on_detached(const ExecKey& exec) {
  if (life_->dead) return;
  universe_.trace.note("link", exec.gen, [&] { return tail(exec.exec) + " is detached"; });
  events_->on_detached(exec);
}

void RealHost::Port::on_gone(const ExecKey& exec, const ExecEnding& ending) {
  if (life_->dead) return;
  universe_.trace.note("host", exec.gen,
                       [&] { return "gone: " + tail(exec.exec) + " (" + ending.proof + ")"; });
  events_->on_gone(exec, ending);
}

std::unique_ptr<AgentctlPort> RealHost::make_port(LifePtr life, Loop& loop,
                                                  IsStillOurs is_still_ours) {
  return std::make_unique<Port>(*this, std::move(life), loop, std::move(is_still_ours));
}

}  // namespace perdure::sim
