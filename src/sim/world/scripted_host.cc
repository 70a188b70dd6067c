#include "sim/world/scripted_host.h"

#include <algorithm>
#include <utility>

namespace perdure::sim {

bool ScriptedHost::lives(const ExecKey& exec) const {
  const auto at = processes_.find(exec);
  return at != processes_.end() && at->second.agentctl->is_alive();
}

bool ScriptedHost::was_found(const ExecKey& exec, const LifePtr& life) const {
  const auto at = processes_.find(exec);
  return at != processes_.end() && at->second.watcher.life == life && at->second.told_attached;
}

const Frame* ScriptedHost::find_frame(const ExecKey& exec, FrameNo number) const {
  const auto at = processes_.find(exec);
  if (at == processes_.end()) return nullptr;
  const std::vector<Frame>& frames = at->second.agentctl->frames();
  return number == 0 || number > frames.size() ? nullptr : &frames[number - 1];
}

std::unique_ptr<AgentctlPort> ScriptedHost::make_port(LifePtr life, Loop&, IsStillOurs) {
  return std::make_unique<ScriptedPort>(universe_, *this, std::move(life));
}

AgentHome& ScriptedHost::home(SessionId session) {
  const auto [at, is_new] = homes_.try_emplace(session);
  if (is_new) {
    at->second.abilities = {.resume = universe_.prng.chance(500'000),
                            .load = universe_.prng.chance(500'000)};
  }
  return at->second;
}

// PROC1, PROC3: starting a life requires proof of the previous one's end. A life that a person
// declared dead may still exist; the new one takes the session's lock by killing it first.
void ScriptedHost::end_older_lives(const LaunchSpec& spec) {
  for (auto& [key, process] : processes_) {
    if (key.session != spec.session || !process.agentctl->is_alive()) continue;
    universe_.verdict.expect(watcher_.was_declared_dead(key), "PROC1", [&] {
      return "gen " + std::to_string(spec.gen) + " starts while gen " + std::to_string(key.gen) +
             " lives";
    });
    process.told_gone = true;
    process.agentctl->kill();
  }
}

void ScriptedHost::watch(Process& process, const Caller& caller, std::uint64_t epoch,
                         FrameNo from) {
  process.watcher = caller;
  process.epoch = epoch;
  process.delivered = from;
  process.acked_by_daemon = from;
  process.told_attached = process.told_gone = process.draining = false;
}

void ScriptedHost::start(const Caller& caller, const LaunchSpec& spec, std::uint64_t epoch) {
  watcher_.on_start(spec);
  const ExecKey exec{spec.session, spec.exec, spec.gen};
  const auto known = processes_.find(exec);
  if (known != processes_.end()) {  // started before: attach
    Process& process = known->second;
    if (process.watcher.life == caller.life) return;
    watch(process, caller, epoch, process.agentctl->acked());
    connect_later(exec, 500);
    return;
  }
  end_older_lives(spec);
  universe_.trace.note("host", spec.gen, [&] {
    return "starts agentctl " + tail(spec.exec) + " gen " + std::to_string(spec.gen) + " of " +
           tail(spec.session);
  });
  Process& process = processes_[exec];
  process.agentctl = std::make_unique<Agentctl>(universe_, spec, home(spec.session), *this);
  watch(process, caller, epoch, 0);
  process.agentctl->boot();
  connect_later(exec, 500);
}

void ScriptedHost::attach(const Caller& caller, const LaunchSpec& spec, std::uint64_t epoch,
                          FrameNo from) {
  const ExecKey exec{spec.session, spec.exec, spec.gen};
  const auto known = processes_.find(exec);
  if (known == processes_.end()) return gone_later(caller, exec, "never started");
  watch(known->second, caller, epoch, from);
  connect_later(exec, 500);
}

void ScriptedHost::gone_later(const Caller& caller, const ExecKey& exec, const std::string& proof) {
  universe_.after(universe_.delay(1000), [this, caller, exec, proof] {
    if (caller.life->dead) return;
    universe_.trace.note("host", exec.gen,
                         [&] { return "gone: " + tail(exec.exec) + " (" + proof + ")"; });
    // Occasionally the cause has a name, as when a container runs out of memory.
    const bool is_named = exec.gen % 3 == 0;
    caller.events->on_gone(exec, is_named ? ExecEnding(proof, "out_of_memory") : ExecEnding(proof));
  });
}

void ScriptedHost::connect_later(const ExecKey& exec, std::int64_t most_ms) {
  const LifePtr life = processes_.at(exec).watcher.life;
  universe_.after(universe_.delay(most_ms), [this, exec, life] { try_connect(exec, life); });
}

void ScriptedHost::try_connect(const ExecKey& exec, const LifePtr& life) {
  Process& process = processes_.at(exec);
  if (life->dead || process.watcher.life != life || process.told_gone) return;
  if (process.link && process.link->up && process.link->caller.life == life) return;
  if (!process.agentctl->is_alive()) return drain(exec, life);
  const bool unreachable =
      process.agentctl->is_paused() || universe_.prng.chance(universe_.faults.link_cut);
  if (unreachable) return connect_later(exec, 3000);
  universe_.verdict.expect(process.epoch >= process.agentctl->owner_epoch, "S8",
                           [] { return std::string("an older owner attaches"); });
  process.agentctl->owner_epoch = process.epoch;
  if (process.link) process.link->up = false;  // disconnects the previous owner
  const FrameNo from = process.told_attached
                           ? process.agentctl->acked()
                           : std::max(process.acked_by_daemon, process.agentctl->acked());
  process.told_attached = true;
  process.link =
      std::make_shared<Link>(Link{.caller = process.watcher, .sent = from, .acked = from});
  universe_.trace.note("link", from, [&] {
    return tail(exec.exec) + " connects, frames behind " + std::to_string(from);
  });
  to_daemon(exec, process.link, [exec](AgentctlEvents& events) { events.on_attached(exec); });
  const std::uint64_t acted = process.agentctl->commands_acted();
  to_daemon(exec, process.link,
            [exec, acted](AgentctlEvents& events) { events.on_commands_acted(exec, acted); });
  pump(exec);
}

// Sends as much as the window allows.
void ScriptedHost::pump(const ExecKey& exec) {
  Process& process = processes_.at(exec);
  const std::shared_ptr<Link> link = process.link;
  if (!link || !link->up || !process.agentctl->is_alive() || process.agentctl->is_paused()) return;
  const std::vector<Frame>& frames = process.agentctl->frames();
  while (link->up && link->sent < frames.size() && link->sent < link->acked + frames_unacked_max) {
    const Frame& frame = frames[link->sent];
    link->sent += 1;
    to_daemon(exec, link, [this, exec, frame](AgentctlEvents& events) {
      Process& to = processes_.at(exec);
      to.delivered = std::max(to.delivered, frame.number);
      events.on_frame(exec, frame);
    });
  }
}

void ScriptedHost::to_daemon(const ExecKey& exec, const std::shared_ptr<Link>& link,
                             std::move_only_function<void(AgentctlEvents&)> message) {
  if (universe_.prng.chance(universe_.faults.link_cut)) return cut(exec, link);
  const std::int64_t now = universe_.scheduler.now_ms();
  const std::int64_t at =
      std::max(link->last_to_daemon_ms, now + universe_.delay(universe_.faults.link_delay_ms_max));
  link->last_to_daemon_ms = at;
  link->to_daemon.push_back(std::move(message));
  universe_.after(at - now, [link] {
    if (!link->up || link->caller.life->dead) return;
    auto next = std::move(link->to_daemon.front());
    link->to_daemon.pop_front();
    next(*link->caller.events);
  });
}

// Messages that a daemon sent before it died still arrive, unless a new owner has attached.
void ScriptedHost::to_agentctl(const ExecKey& exec,
                               std::move_only_function<void(Agentctl&)> message) {
  Process& process = processes_.at(exec);
  const std::shared_ptr<Link> link = process.link;
  if (!link || !link->up) return;
  if (universe_.prng.chance(universe_.faults.link_cut)) return cut(exec, link);
  const std::int64_t now = universe_.scheduler.now_ms();
  const std::int64_t at = std::max(link->last_to_agentctl_ms,
                                   now + universe_.delay(universe_.faults.link_delay_ms_max));
  link->last_to_agentctl_ms = at;
  link->to_agentctl.push_back(std::move(message));
  universe_.after(at - now, [this, exec, link] { deliver_to_agentctl(exec, link); });
}

void ScriptedHost::deliver_to_agentctl(const ExecKey& exec, const std::shared_ptr<Link>& link) {
  Agentctl& agentctl = *processes_.at(exec).agentctl;
  if (!link->up || !agentctl.is_alive()) return;
  if (agentctl.is_paused()) {  // not dead: it continues reading when it wakes
    universe_.after(agentctl.pause_left_ms(),
                    [this, exec, link] { deliver_to_agentctl(exec, link); });
    return;
  }
  auto next = std::move(link->to_agentctl.front());
  link->to_agentctl.pop_front();
  next(agentctl);
}

void ScriptedHost::cut(const ExecKey& exec, const std::shared_ptr<Link>& link) {
  if (!link->up) return;
  link->up = false;
  universe_.trace.note("link", 0, [&] { return tail(exec.exec) + " is cut"; });
  universe_.after(universe_.delay(1000), [this, exec, link] {
    if (link->caller.life->dead) return;
    if (processes_.at(exec).link == link) link->caller.events->on_detached(exec);
    if (is_watched(processes_.at(exec))) connect_later(exec, 2000);
  });
}

void ScriptedHost::send(const Caller&, const ExecKey& exec, const SendCommand& command) {
  if (!processes_.contains(exec)) return;
  to_agentctl(exec, [command](Agentctl& agentctl) { agentctl.command(command); });
  if (universe_.prng.chance(universe_.faults.link_cut)) {  // repeated by the transport
    to_agentctl(exec, [command](Agentctl& agentctl) { agentctl.command(command); });
  }
}

void ScriptedHost::ack(const Caller&, const ExecKey& exec, FrameNo frame) {
  watcher_.on_frames_acked(exec, frame);
  const auto known = processes_.find(exec);
  if (known == processes_.end()) return;
  Process& process = known->second;
  process.acked_by_daemon = std::max(process.acked_by_daemon, frame);
  if (!process.agentctl->is_alive()) {
    process.agentctl->ack(frame);  // the spool of a dead agentctl is a file
    return;
  }
  to_agentctl(exec, [this, exec, frame](Agentctl& agentctl) {
    agentctl.ack(frame);
    const std::shared_ptr<Link>& link = processes_.at(exec).link;
    if (link) link->acked = std::max(link->acked, frame);
    pump(exec);
  });
}

void ScriptedHost::stop(const Caller& caller, const ExecKey& exec) {
  const auto known = processes_.find(exec);
  if (known == processes_.end()) return gone_later(caller, exec, "never started");
  Process& process = known->second;
  if (process.watcher.life != caller.life) {
    watch(process, caller, process.epoch, process.agentctl->acked());
  }
  universe_.trace.note("host", exec.gen, [&] { return "stops " + tail(exec.exec); });
  if (process.agentctl->is_alive()) {
    process.agentctl->stop();
  } else {
    connect_later(exec, 500);
  }
}

void ScriptedHost::on_spooled(const ExecKey& exec) { pump(exec); }

void ScriptedHost::on_acted(const ExecKey& exec, const SendCommand& command) {
  watcher_.on_command_acted(exec, command);
  const std::shared_ptr<Link>& link = processes_.at(exec).link;
  if (!link || !link->up) return;
  to_daemon(exec, link, [exec, number = command.number](AgentctlEvents& events) {
    events.on_commands_acted(exec, number);
  });
}

void ScriptedHost::on_died(const ExecKey& exec) {
  universe_.trace.note("host", exec.gen, [&] { return "agentctl " + tail(exec.exec) + " died"; });
  Process& process = processes_.at(exec);
  if (process.link && process.link->up) {
    cut(exec, process.link);  // the daemon first sees a broken link, then checks more closely
  } else if (is_watched(process)) {
    connect_later(exec, 2000);
  }
}

// The daemon's side reads the spool of a dead agentctl: every frame, then the proof.
void ScriptedHost::drain(const ExecKey& exec, const LifePtr& life) {
  Process& process = processes_.at(exec);
  if (life->dead || process.watcher.life != life || process.told_gone) return;
  const std::vector<Frame>& frames = process.agentctl->frames();
  for (int portion = 0; portion < 16; ++portion) {
    if (process.delivered >= frames.size()) break;
    if (process.delivered >= process.acked_by_daemon + frames_unacked_max) break;
    const Frame frame = frames[process.delivered];
    process.delivered += 1;
    process.watcher.events->on_frame(exec, frame);
    if (life->dead) return;
  }
  if (process.delivered < frames.size()) {
    universe_.after(1 + universe_.delay(100), [this, exec, life] { drain(exec, life); });
    return;
  }
  process.told_gone = true;
  gone_later(process.watcher, exec, "exit");
}

void ScriptedHost::reboot() {
  for (auto& [key, process] : processes_) {
    if (process.link) process.link->up = false;
    process.agentctl->kill();
  }
}

void ScriptedHost::heal() {
  for (auto& [key, process] : processes_) {
    process.agentctl->heal();
    pump(key);
  }
}

void ScriptedHost::maybe_hurt() {
  const bool crash = universe_.prng.chance(universe_.faults.agentctl_crash);
  const bool pause = universe_.prng.chance(universe_.faults.agentctl_pause);
  if (!crash && !pause) return;
  std::vector<Agentctl*> living;
  for (auto& [key, process] : processes_) {
    if (process.agentctl->is_alive()) living.push_back(process.agentctl.get());
  }
  if (living.empty()) return;
  Agentctl& victim = *living[universe_.prng.below(living.size())];
  if (crash) return victim.kill();
  victim.pause(universe_.prng.between(1, 60'000));
}

bool ScriptedPort::still_lives() {
  if (caller_.life->dead) return false;
  universe_.crash_point(CrashPoint::between_effects);
  return !caller_.life->dead;
}

void ScriptedPort::start(const LaunchSpec& spec, std::uint64_t epoch) {
  if (still_lives()) host_.start(caller_, spec, epoch);
}

void ScriptedPort::attach(const LaunchSpec& spec, std::uint64_t epoch, FrameNo from) {
  if (still_lives()) host_.attach(caller_, spec, epoch, from);
}

void ScriptedPort::send(const ExecKey& exec, const SendCommand& command) {
  if (still_lives()) host_.send(caller_, exec, command);
}

void ScriptedPort::ack(const ExecKey& exec, FrameNo frame) {
  if (still_lives()) host_.ack(caller_, exec, frame);
}

void ScriptedPort::stop(const ExecKey& exec) {
  if (still_lives()) host_.stop(caller_, exec);
}

}  // namespace perdure::sim
