#include "daemon/runtime/outbox.h"

#include <algorithm>

#include "base/failpoint.h"
#include "base/probe.h"
#include "core/session/transitions/draft.h"
#include "core/wire/agentctl/effect.h"

namespace perdure {
namespace {

bool is_present(const State& state, ExecId exec, Gen gen) {
  return state.exec.id == exec && state.exec.gen == gen && !state.exec.gone;
}

}  // namespace

LaunchSpec launch_spec(const State& state) {
  const bool handover = state.resume && state.resume->with;
  const bool from_nothing = handover || (state.resume && state.resume->how == ResumeHow::fresh);
  return LaunchSpec{.session = state.id,
                    .exec = state.exec.id,
                    .gen = state.exec.gen,
                    .agent = handover ? *state.resume->with : state.agent,
                    .wants_agent = state.resume.has_value(),
                    .has_agent = state.resume || state.exec.agent != AgentPhase::none,
                    .workspace = state.workspace,
                    .runtime = state.runtime,
                    .image = state.image,
                    .remote = state.remote,
                    .mcp_servers = state.mcp_servers,
                    .survive = state.policy.survive,
                    .limits = state.policy.limits,
                    .agent_session_id = from_nothing ? "" : state.context.agent_session_id,
                    .last_message_id = from_nothing ? "" : state.context.last_agent_message_id,
                    .context_opened = state.context.opened};
}

Result<> Outbox::add(const std::vector<OutboxRow>& rows) {
  std::vector<std::pair<std::uint64_t, Effect>> decoded;
  for (const OutboxRow& row : rows) {
    Result<Effect> effect = decode_effect(row.payload);
    if (!effect) return std::unexpected(std::move(effect).error().with_context("read the outbox"));
    decoded.emplace_back(row.number, std::move(*effect));
  }
  for (auto& [number, effect] : decoded) rows_.emplace(number, Row{std::move(effect)});
  return {};
}

void Outbox::run(const State& state) {
  std::vector<std::uint64_t> finished;
  for (auto& [number, row] : rows_) {
    if (run_row(number, row, state)) finished.push_back(number);
  }
  for (const std::uint64_t number : finished) {
    rows_.erase(number);
    done_.push_back(number);
  }
}

bool Outbox::run_row(std::uint64_t number, Row& row, const State& state) {
  if (const auto* command = get_if<SendCommand>(&row.effect)) {
    return run_command(row, *command, state);
  }
  if (const auto* start = get_if<StartExecutor>(&row.effect)) return run_start(row, *start, state);
  if (const auto* stop = get_if<StopExecutor>(&row.effect)) return run_stop(row, *stop, state);
  if (const auto* injection = get_if<PrepareInjection>(&row.effect)) {
    return run_injection(number, row, *injection, state);
  }
  shared_.world.notifier.notify(session_, get<Notify>(row.effect));
  return true;
}

bool Outbox::run_command(Row& row, const SendCommand& command, const State& state) {
  // A command for a life that is over has no recipient (G6: at most one life).
  if (!is_present(state, command.exec, command.gen)) return true;
  if (attached_ && !row.started) {
    row.started = true;
    FAILPOINT("effect.before");
    shared_.world.agentctls.send({session_, command.exec, command.gen}, command);
    FAILPOINT("effect.after");
  }
  return false;
}

// A start may end another execution in its way: it is the one effect that a daemon suspended for
// longer than its lease must not run late.
bool Outbox::run_start(Row& row, const StartExecutor& start, const State& state) {
  if (!is_present(state, start.exec, start.gen)) return true;
  if (state.exec.status != ExecutorStatus::starting) return true;
  if (!row.started && is_at_home(shared_, state) &&
      check_still_ours(shared_.world.store, {session_, epoch_})) {
    row.started = true;
    FAILPOINT("effect.before");
    shared_.world.agentctls.start(launch_spec(state), epoch_);
    FAILPOINT("effect.after");
  }
  return false;
}

bool Outbox::run_stop(Row& row, const StopExecutor& stop, const State& state) {
  if (!is_present(state, stop.exec, stop.gen)) return true;
  if (!row.started && is_at_home(shared_, state)) {
    row.started = true;
    FAILPOINT("effect.before");
    shared_.world.agentctls.stop({session_, stop.exec, stop.gen});
    FAILPOINT("effect.after");
  }
  return false;
}

bool Outbox::run_injection(std::uint64_t number, Row& row, const PrepareInjection& effect,
                           const State& state) {
  const bool wanted = state.context.inject_armed && state.context.boundary == effect.boundary;
  if (!wanted) return true;
  if (!row.started) row.started = inject_(number, effect);
  return false;  // the input that answers it completes it
}

void Outbox::attached(const State& state) {
  attached_ = true;
  for (auto& [number, row] : rows_) {
    if (holds_alternative<SendCommand>(row.effect)) row.started = false;
  }
  run(state);
}

void Outbox::commands_acted(ExecId exec, std::uint64_t number) {
  for (auto at = rows_.begin(); at != rows_.end();) {
    const auto* command = get_if<SendCommand>(&at->second.effect);
    if (command && command->exec == exec && command->number <= number) {
      done_.push_back(at->first);
      at = rows_.erase(at);
    } else {
      ++at;
    }
  }
}

bool Outbox::has_start_of(ExecId exec) const {
  return std::ranges::any_of(rows_, [&](const auto& entry) {
    const auto* start = get_if<StartExecutor>(&entry.second.effect);
    return start && start->exec == exec;
  });
}

bool Outbox::holds_any(std::span<const std::string> texts) const {
  return std::ranges::any_of(rows_, [&](const auto& entry) {
    const std::string payload = encode_effect(entry.second.effect);
    return std::ranges::any_of(texts,
                               [&](const std::string& text) { return payload.contains(text); });
  });
}

bool is_at_home(const ActorShared& shared, const State& state) {
  return !execution_may_live(state) || state.exec.home == shared.config.home;
}

std::vector<std::uint64_t> Outbox::take_done() { return std::exchange(done_, {}); }

void Outbox::put_back_done(const std::vector<std::uint64_t>& numbers) {
  done_.insert(done_.end(), numbers.begin(), numbers.end());
}

void Outbox::removed(const std::vector<std::uint64_t>& numbers) {
  for (const std::uint64_t number : numbers) rows_.erase(number);
}

}  // namespace perdure
