#include "sim/world/real_host.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "agentctl/supervisor/claim.h"
#include "core/wire/agentctl/frame.h"
#include "sim/world/real_host_port.h"
#include "testing/sequence.h"

namespace perdure::sim {
namespace {

const std::string sim_owner = "sim";
// A link is removed shortly after its end was noticed.
constexpr std::int64_t slack_ms = 100;

}  // namespace

SimAgentHome& RealHost::home(SessionId session) {
  const auto [at, is_new] = homes_.try_emplace(session);
  if (is_new) at->second.abilities = draw_abilities(machine_.universe.prng);
  return at->second;
}

// Equal in every life of the daemon: drawn once, when the execution is first requested.
Result<Bootstrap> RealHost::make_bootstrap(const LaunchSpec& spec) {
  Execution& execution = executions_[{spec.session, spec.exec, spec.gen}];
  Bootstrap& bootstrap = execution.bootstrap;
  if (!bootstrap.secret.empty()) return bootstrap;
  Prng& prng = machine_.universe.prng;
  bootstrap = {.session = spec.session,
               .exec = spec.exec,
               .gen = spec.gen,
               .secret = "secret of " + spec.exec.text(),
               .owner = sim_owner,
               .run_folder = "/run",
               .spool_folder = "/spool/" + spec.exec.text(),
               .cwd = spec.workspace.cwd,
               .spool_bytes = 4096UL << prng.below(10)};
  bootstrap.agent.command = {"testagent"};
  bootstrap.agent.steer = spec.agent.steer;
  bootstrap.agent.clear_commands = {"/clear"};
  bootstrap.agent.protocol_version = home(spec.session).abilities.protocol;
  AgentTimes& times = bootstrap.agent.times;
  if (prng.chance(300'000)) times.initialize_ms = prng.between(500, 20'000);
  if (prng.chance(300'000)) times.open_quiet_ms = prng.between(500, 20'000);
  if (prng.chance(300'000)) times.cancel_grace_ms = prng.between(500, 5'000);
  if (prng.chance(300'000)) bootstrap.orphan_ms = prng.between(500, 20'000);
  if (prng.chance(300'000)) times.stall_ms = prng.between(1000, 20'000);
  if (prng.chance(200'000)) bootstrap.idle_ms = prng.between(10'000, 100'000);
  return bootstrap;
}

Result<BootstrapAnswer> RealHost::start_agentctl(Bootstrap bootstrap,
                                                 std::vector<std::string> environment) {
  const ExecKey key{bootstrap.session, bootstrap.exec, bootstrap.gen};
  const ProcPtr proc = machine_.add(std::move(environment), 0);
  const auto refuse = [&](Code code, std::string message) {
    machine_.exited(proc);
    return fail(code, std::move(message));
  };
  if (!machine_.take_lock(session_lock_name(bootstrap.session), proc)) {
    return refuse(Code::conflict, "the lock is held");
  }
  auto& notes = machine_.folders[bootstrap.run_folder];
  if (!notes) notes = std::make_shared<FolderFiles>();
  SimFolder run_folder(machine_.universe, proc->life, notes);
  if (const Result<> done = check_start(run_folder, bootstrap); !done) {
    return refuse(done.error().code(), done.error().message());
  }
  auto& folder = machine_.folders[bootstrap.spool_folder];
  if (!folder) folder = std::make_shared<FolderFiles>();
  SimFolder claimed(machine_.universe, proc->life, folder);
  Result<> done = note_start(run_folder, bootstrap);
  if (done) done = claim_spool(claimed);
  if (!done) return refuse(done.error().code(), done.error().message());
  if (!machine_.universe.files.folder_exists(bootstrap.cwd)) {
    return refuse(Code::not_found, "no such folder");
  }
  machine_.universe.trace.note("host", key.gen, [&] {
    return "starts agentctl " + tail(key.exec) + " gen " + std::to_string(key.gen) + " of " +
           tail(key.session);
  });
  Execution& execution = executions_[key];
  execution.agentctl = std::make_unique<SimAgentctl>(
      machine_, proc, bootstrap, home(bootstrap.session), static_cast<AgentctlListener&>(*this));
  execution.agentctl->begin();
  return execution.agentctl->answer();
}

void RealHost::reboot() { machine_.reboot(); }

void RealHost::heal() {
  for (auto& [key, execution] : executions_) {
    if (execution.agentctl) execution.agentctl->heal();
  }
}

void RealHost::maybe_hurt() {
  Prng& prng = machine_.universe.prng;
  const bool crash = prng.chance(machine_.universe.faults.agentctl_crash);
  const bool pause = prng.chance(machine_.universe.faults.agentctl_pause);
  if (!crash && !pause) return;
  std::vector<SimAgentctl*> living;
  for (auto& [key, execution] : executions_) {
    if (execution.agentctl && execution.agentctl->proc()->is_alive()) {
      living.push_back(execution.agentctl.get());
    }
  }
  if (living.empty()) return;
  SimAgentctl& victim = *living[prng.below(living.size())];
  if (crash) return machine_.kill(victim.proc(), SIGKILL);
  victim.pause(prng.between(1, 60'000));
}

void RealHost::reap() {
  for (auto& [key, execution] : executions_) {
    if (execution.agentctl && !execution.agentctl->proc()->is_alive()) execution.agentctl.reset();
  }
  for (const auto& [session, home] : homes_) {
    machine_.universe.verdict.expect(home.shared.violations.empty(), "PROC1", [&] {
      return tail(session) + ": two agents at once: " + home.shared.violations.front();
    });
  }
}

// PROC4 and PROC6.
void RealHost::check_quiet() {
  for (auto& [key, execution] : executions_) {
    check_said(key, execution);
    const bool has_agentctl = execution.agentctl && execution.agentctl->proc()->is_alive();
    const bool was_started = !execution.frames.empty();
    const bool given_up = watcher_.was_declared_dead(key) || watcher_.is_damaged(key.session);
    if (was_started && !has_agentctl && !given_up) {
      machine_.universe.verdict.expect(!lives(key), "PROC4", [&] {
        return tail(key.exec) + " is gone, and processes of its agent live on";
      });
    }
    if (!watcher_.has_ended(key)) continue;
    const auto expect = [&](bool condition, const char* what) {
      machine_.universe.verdict.expect(
          condition, "PROC6", [&] { return tail(key.exec) + " has ended and left " + what; });
    };
    const std::string name = key.exec.text() + ".sock";
    expect(!lives(key), "a process");
    expect(!machine_.sockets.contains({execution.bootstrap.run_folder, name}), "its socket");
    expect(!machine_.folders.contains(execution.bootstrap.spool_folder), "its spool");
  }
}

bool RealHost::lives(const ExecKey& exec) const {
  return machine_.any_lives(exec_mark({exec.exec, sim_owner}));
}

bool RealHost::was_found(const ExecKey& exec, const LifePtr& life) const {
  const auto at = executions_.find(exec);
  return at != executions_.end() && at->second.found_by == life->number;
}

const Frame* RealHost::find_frame(const ExecKey& exec, FrameNo number) const {
  const auto at = executions_.find(exec);
  if (at == executions_.end() || number == 0 || number > at->second.frames.size()) return nullptr;
  return &at->second.frames[number - 1];
}

void RealHost::on_frame_spooled(const ExecKey& exec, FrameNo number, std::string_view bytes) {
  Execution& execution = executions_.at(exec);
  machine_.universe.verdict.expect(number == execution.frames.size() + 1, "PROC5", [&] {
    return tail(exec.exec) + ": frame " + std::to_string(number) + " is spooled behind " +
           std::to_string(execution.frames.size());
  });
  Result<Frame> frame = decode_frame(bytes);
  if (!machine_.universe.verdict.expect(frame.has_value(), "PROC5", [&] {
        return tail(exec.exec) + ": a frame that cannot be read is spooled";
      })) {
    return;
  }
  frame->exec = exec.exec;
  frame->gen = exec.gen;
  frame->number = number;
  machine_.universe.trace.note("agentctl", number * 64 + frame->body.index(), [&] {
    return tail(exec.exec) + " spools frame " + std::to_string(number) + " " +
           std::string(bytes.substr(0, 300));
  });
  if (const auto* said = get_if<MessageAgent>(&frame->body)) execution.said += said->text;
  if (const auto* taken = get_if<FrameSteerTaken>(&frame->body))
    check_steered(exec, taken->message);
  execution.frames.push_back(std::move(*frame));
}

// C23: a prompt that was reported as steered was given to the agent if the agent lived long enough.
void RealHost::check_steered(const ExecKey& exec, MessageId message) {
  const auto at = steered_.find(message);
  if (at == steered_.end()) return;
  const bool given = prompts_given_.contains({exec.session, at->second});
  const bool agent_lives = machine_.any_lives("PERDURE_AGENT=" + exec.exec.text());
  machine_.universe.verdict.expect(given || !agent_lives, "C23", [&] {
    return tail(exec.exec) + ": a prompt is said to be steered and the agent was not given it";
  });
}

// PROC5 on the path before the spool: the agent's output arrived, each piece once and in order, and
// all of it if a turn ended normally.
void RealHost::check_said(const ExecKey& exec, Execution& execution) {
  if (!execution.lossless) return;
  const auto sequence = testagent::read_sequence(execution.said);
  machine_.universe.verdict.expect(sequence.has_value(), "PROC5", [&] {
    return tail(exec.exec) +
           ": what the agent said is not what was spooled: " + sequence.error().message();
  });
}

void RealHost::on_command_acted(const ExecKey& exec, const SendCommand& command) {
  machine_.universe.trace.note("agentctl", command.number * 8 + command.body.index(), [&] {
    return tail(exec.exec) + " acts on command " + std::to_string(command.number) + " " +
           visit([](const auto& body) { return std::string(body.kind_text); }, command.body);
  });
  if (const auto* steer = get_if<SteerPrompt>(&command.body)) {
    if (const auto number = prompt_number(steer->prompt.text)) steered_[steer->message] = *number;
  }
  watcher_.on_command_acted(exec, command);
}

// RUN4 where it matters: an agent of the session never gets a prompt that was given before.
void RealHost::on_prompt_given(const ExecKey& exec, std::uint64_t prompt) {
  const bool first = prompts_given_.insert({exec.session, prompt}).second;
  machine_.universe.verdict.expect(first, "RUN4", [&] {
    return tail(exec.exec) + ": prompt " + std::to_string(prompt) + " is given to an agent again";
  });
}

// PROC4: an agentctl ends its agent when it exits, and does not exit because a daemon ended. On its
// own it exits only after the time in its bootstrap without any connection.
void RealHost::on_leaving(const ExecKey& exec, const Leaving& leaving) {
  const Execution& execution = executions_.at(exec);
  const bool agent_lives = machine_.any_lives("PERDURE_AGENT=" + exec.exec.text());
  machine_.universe.verdict.expect(!agent_lives, "PROC4", [&] {
    return tail(exec.exec) + " leaves (" + leaving.reason + ") and its agent lives on";
  });
  if (execution.stop_asked) return;
  const Bootstrap& bootstrap = execution.bootstrap;
  std::int64_t patience_ms = bootstrap.abandoned_ms;
  if (leaving.reason == "idle") patience_ms = bootstrap.idle_ms;
  if (leaving.reason == "nobody attached") patience_ms = bootstrap.orphan_ms;
  machine_.universe.verdict.expect(leaving.alone_ms >= patience_ms - slack_ms, "PROC4", [&] {
    return tail(exec.exec) + " leaves by itself (" + leaving.reason + ") " +
           std::to_string(leaving.alone_ms) + " ms after its daemon";
  });
}

void RealHost::on_agent_spawned(const ExecKey& exec, const DrawnSwitches& drawn) {
  Execution& execution = executions_.at(exec);
  check_said(exec, execution);
  execution.lossless = drawn.lossless;
  execution.said.clear();
}

}  // namespace perdure::sim
