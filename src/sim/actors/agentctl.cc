// The process: its life, its spool, its commands.
#include "sim/actors/agentctl.h"

#include <utility>

#include "base/limits.h"

namespace perdure::sim {

Agentctl::Agentctl(Universe& universe, LaunchSpec spec, AgentHome& home, AgentctlWatcher& watcher)
    : universe_(universe),
      spec_(std::move(spec)),
      key_{spec_.session, spec_.exec, spec_.gen},
      home_(home),
      watcher_(watcher) {}

void Agentctl::later(std::int64_t delay_ms, std::move_only_function<void()> task) {
  universe_.after(delay_ms,
                  [this, exists = std::weak_ptr<bool>(exists_), task = std::move(task)]() mutable {
                    if (exists.expired() || !alive_) return;
                    if (is_paused()) {
                      later(pause_left_ms(), std::move(task));
                      return;
                    }
                    task();
                  });
}

void Agentctl::agent_later(std::int64_t delay_ms, std::move_only_function<void()> task) {
  later(delay_ms, [this, life = agent_.life, task = std::move(task)]() mutable {
    if (agent_.alive && agent_.life == life) task();
  });
}

void Agentctl::write(FrameBody body, RunId run) {
  frames_.push_back(Frame{.exec = key_.exec,
                          .gen = key_.gen,
                          .number = frames_.size() + 1,
                          .run = run,
                          .body = std::move(body)});
  universe_.trace.note("agentctl", frames_.size() * 64 + frames_.back().body.index(), [&] {
    return tail(key_.exec) + " spools frame " + std::to_string(frames_.size()) + " (kind " +
           std::to_string(frames_.back().body.index()) + ")";
  });
  watcher_.on_spooled(key_);
}

void Agentctl::boot() {
  later(universe_.delay(3000), [this] {
    if (universe_.agents_are_busy && universe_.meddler_prng.chance(250'000)) return;  // hangs
    if (universe_.prng.chance(universe_.faults.start_fails)) {
      if (universe_.prng.chance(400'000)) {
        write(FrameExecutorFailed{"spawn_failed", "no such program"}, {});
      } else if (universe_.prng.chance(500'000)) {
        kill();
      }  // otherwise it hangs, and the daemon gives up after executor_ready_ms
      return;
    }
    write(FrameExecutorReady{{.url = "unix:sim",
                              .instance = key_.exec.text(),
                              .pid = 100,
                              .pid_started = universe_.scheduler.now_ms(),
                              .container_id = key_.gen % 2 == 0 ? "" : "box-" + tail(key_.exec),
                              .supports_workspace_only = key_.gen % 2 == 0,
                              .tells_steered = key_.gen % 3 != 0}},  // otherwise an earlier build
          {});
    if (odd()) write(FrameExecutorReady{{.url = "unix:again"}}, {});
  });
}

void Agentctl::kill() {
  if (!alive_) return;
  alive_ = false;
  agent_.alive = false;
  agent_.requests.clear();
  watcher_.on_died(key_);
}

void Agentctl::stop() {
  if (!alive_) return;
  // SIGKILL also ends a paused process; the orderly end takes a while.
  const std::int64_t grace_ms = universe_.delay(5000);
  universe_.after(grace_ms, [this, exists = std::weak_ptr<bool>(exists_)] {
    if (exists.expired() || !alive_) return;
    if (agent_.alive && !is_paused() && universe_.prng.chance(700'000)) {
      agent_exits(std::nullopt, 15, "stopped");
    }
    kill();
  });
}

void Agentctl::pause(std::int64_t for_ms) {
  paused_until_ms_ = universe_.scheduler.now_ms() + for_ms;
  universe_.trace.note("agentctl", static_cast<std::uint64_t>(for_ms), [&] {
    return tail(key_.exec) + " is paused for " + std::to_string(for_ms) + " ms";
  });
  later(for_ms, [this] { watcher_.on_spooled(key_); });  // continue with what it held back
}

void Agentctl::heal() {
  paused_until_ms_ = 0;
  keep_ticking();
}

void Agentctl::ack(FrameNo frame) {
  if (frame <= acked_) return;
  acked_ = frame;
  keep_ticking();
}

void Agentctl::command(const SendCommand& command) {
  if (!alive_ || command.number <= commands_acted_) return;  // a repeat: already executed
  commands_acted_ = command.number;
  universe_.trace.note("agentctl", command.number * 8 + command.body.index(), [&] {
    return tail(key_.exec) + " acts on command " + std::to_string(command.number) + " " +
           visit([](const auto& body) { return std::string(body.kind_text); }, command.body);
  });
  watcher_.on_acted(key_, command);
  visit([&](const auto& body) { act(body); }, command.body);
}

void Agentctl::act(const StartAgent&) {
  // One agent at a time: kill what is left of an earlier one first.
  agent_ = Agent{.alive = true, .life = agent_.life + 1, .starting = true};
  agent_later(universe_.delay(2000), [this] {
    agent_.starting = false;
    if (odd()) {
      agent_exits(1, std::nullopt, "crashed");
    } else if (odd()) {
      agent_.starting = true;  // never answers initialize; agentctl's deadline ends it
      agent_later(executor_ready_ms, [this] { agent_exits(std::nullopt, 9, "killed"); });
    } else {
      write(FrameAgentStarted{{.abilities = home_.abilities, .version = "1"}}, {});
      if (odd()) write(FrameAgentStarted{{.abilities = home_.abilities}}, {});
    }
  });
}

void Agentctl::agent_exits(std::optional<std::int64_t> code, std::optional<std::int64_t> signal,
                           const std::string& why) {
  const RunId run = agent_.run;
  agent_.alive = false;
  agent_.requests.clear();
  write(FrameAgentExited{{.exit_code = code,
                          .signal = signal,
                          .why = why,
                          .stderr_tail = "working\nout of luck: " + why + "\n\n"}},
        run);
  agent_ = Agent{.life = agent_.life};
}

void Agentctl::act(const SendPrompt& command) {
  if (!agent_.alive) return;  // the daemon will receive its exit
  if (agent_.run) {
    agent_.prompts.push_back(command);
    return;
  }
  begin_prompt(command);
}

// A busy agent takes it later, or not in this turn.
void Agentctl::act(const SteerPrompt& command) {
  const bool is_late = universe_.agents_are_busy
                           ? universe_.meddler_prng.chance(700'000)
                           : universe_.meddler_prng.chance(universe_.faults.meddling);
  if (is_late) {
    agent_later(universe_.meddler_prng.between(100, 12'000), [this, command] { steer(command); });
  } else {
    steer(command);
  }
}

void Agentctl::steer(const SteerPrompt& command) {
  if (!agent_.alive || agent_.run != command.run || agent_.cancelled) return;
  write_here(FrameSteerTaken{command.message});
  agent_.script.push_front(Act::say);
  keep_ticking();
}

void Agentctl::act(const CancelPrompt& command) {
  if (!agent_.alive) return;
  if (agent_.run != command.run) {  // a late cancel never hits the next prompt (N9)
    const auto waiting = std::erase_if(
        agent_.prompts, [&](const SendPrompt& prompt) { return prompt.run == command.run; });
    if (waiting > 0) write(FrameRunFinished{command.run, "cancelled"}, command.run);
    return;
  }
  agent_.cancelled = true;
  if (agent_.ignores_cancel) {
    agent_later(10'000, [this, run = command.run] {
      if (agent_.run == run) agent_exits(std::nullopt, 9, "killed");
    });
    return;
  }
  agent_.hangs = false;
  agent_.requests.clear();
  const bool races = universe_.prng.chance(200'000);
  agent_.script = races ? std::deque{Act::say, Act::finish} : std::deque{Act::finish_cancelled};
  if (universe_.meddler_prng.chance(universe_.faults.meddling)) agent_.script = {Act::fail};
  if (universe_.prng.chance(200'000)) agent_.script.push_front(Act::say);
  keep_ticking();
}

void Agentctl::act(const AnswerRequest& command) {
  agent_.requests.erase(command.request);
  keep_ticking();
}

void Agentctl::act(const SetOptions& command) {
  if (!agent_.alive) return;
  agent_later(universe_.delay(200), [this, options = command.options] {
    for (const auto& [name, value] : options) write_here(Mode{.option = name, .value = value});
  });
}

}  // namespace perdure::sim
