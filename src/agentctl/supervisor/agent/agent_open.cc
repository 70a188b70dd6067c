// Opens a session: one rung of the ladder, as the daemon commands. It is open when the agent has
// answered, its replay has drained and the settings are restored (R4, R9, X14).
#include <algorithm>
#include <utility>

#include "agentctl/supervisor/agent/agent.h"
#include "base/limits.h"
#include "base/probe.h"

namespace perdure {

void Agent::act(const OpenSession& command) {
  if (phase_ != Phase::ready && phase_ != Phase::open) {
    ports_.frames.write(
        {}, FrameOpenFailed{command.method, OpenFailure::startup, "the agent is not ready"});
    return;
  }
  if (turn_ || !waiting_.empty()) {
    write(FrameOpenFailed{command.method, OpenFailure::other, "a prompt is being worked on"});
    return;
  }
  phase_ = Phase::opening;
  setting_.clear();
  session_id_.clear();
  history_gate_ = false;
  normaliser_.forget_options();
  opening_ = Opening{.command = command};
  refused_sessions_.erase(command.agent_session_id);
  const std::int64_t early_ms = early_for_load_ms();
  if (early_ms > 0) return arm(phase_timer_, early_ms, &Agent::call_open);
  call_open();
}

// make_launch sets it at most one slot ahead. Capped, in case the clock was set back since.
std::int64_t Agent::early_for_load_ms() const {
  if (opening_->command.method != OpenMethod::load) return 0;
  const std::int64_t early_ms = setup_.launch.times.load_not_before.ms - ports_.clock.now().wall.ms;
  return std::min(early_ms, load_wait_ms_max);
}

void Agent::call_open() {
  acp::SessionSetup setup{.cwd = setup_.cwd, .mcp_servers = setup_.launch.mcp_servers};
  if (opening_->without_mcp) setup.mcp_servers = {};
  std::string out;
  switch (opening_->command.method) {
    case OpenMethod::fresh: client_->open_new(out, setup); break;
    case OpenMethod::load: client_->load(out, opening_->command.agent_session_id, setup); break;
    case OpenMethod::resume: client_->resume(out, opening_->command.agent_session_id, setup); break;
  }
  send(out);
  last_sign_ms_ = ports_.clock.now().since_boot.ms;
  arm(phase_timer_, setup_.launch.times.open_quiet_ms, &Agent::open_went_quiet);
}

// X8: an agent that still replays is not hanging.
void Agent::open_went_quiet() {
  const std::int64_t quiet_ms = ports_.clock.now().since_boot.ms - last_sign_ms_;
  std::int64_t left_ms = setup_.launch.times.open_quiet_ms - quiet_ms;
  if (paused_) left_ms = setup_.launch.times.open_quiet_ms;  // we are not reading
  if (left_ms > 0) return arm(phase_timer_, left_ms, &Agent::open_went_quiet);
  SIM_PROBE("agent silent while it opens a session");
  fail_open(OpenFailure::timeout, "the agent was silent for " +
                                      std::to_string(setup_.launch.times.open_quiet_ms / 1000) +
                                      " s while it opened the session");
}

// A late answer to an abandoned rung must not count for the next one.
bool Agent::is_awaited(const OpenAnswer& answer) const {
  if (phase_ != Phase::opening || opening_->answer) return false;
  const OpenSession& command = opening_->command;
  switch (command.method) {
    case OpenMethod::fresh: return answer.call == acp::Call::open_new;
    case OpenMethod::load:
      return answer.call == acp::Call::load && answer.session_id == command.agent_session_id;
    case OpenMethod::resume:
      return answer.call == acp::Call::resume && answer.session_id == command.agent_session_id;
  }
  return false;
}

void Agent::on(acp::SessionOpened event) {
  if (!is_awaited({event.call, event.asked_session_id})) return;
  observe(event.options);
  opening_->answer = std::move(event);
  if (opening_->command.method != OpenMethod::load) return settled();
  last_sign_ms_ = ports_.clock.now().since_boot.ms;
  arm(phase_timer_, setup_.launch.times.load_settle_ms, &Agent::settled);
}

void Agent::observe(const std::vector<acp::OptionValue>& options) {
  for (const acp::OptionValue& one : options) opening_->observed.set(one.option, one.value);
}

void Agent::settled() {
  const std::int64_t quiet_ms = ports_.clock.now().since_boot.ms - last_sign_ms_;
  const std::int64_t left_ms = setup_.launch.times.load_settle_ms - quiet_ms;
  if (opening_->command.method == OpenMethod::load && left_ms > 0) {
    return arm(phase_timer_, left_ms, &Agent::settled);
  }
  // A model may bring its own modes: apply model first, then mode, then the rest (X14).
  const auto& wanted = opening_->command.options;
  for (const char* const first : {"model", "mode"}) {
    if (const auto found = wanted.find(first); found != wanted.end()) {
      opening_->to_apply.push_back({found->first, found->second});
    }
  }
  for (const auto& [name, value] : wanted) {
    if (name != "model" && name != "mode") opening_->to_apply.push_back({name, value});
  }
  arm(phase_timer_, setup_.launch.times.open_quiet_ms, &Agent::open_went_quiet);
  apply_next_option();
}

// Ignores the answer to a setting that was requested before this session opened.
void Agent::option_answered() {
  if (opening_->answer) apply_next_option();
}

void Agent::apply_next_option() {
  Opening& opening = *opening_;
  const std::string& said = opening.answer->session_id;
  const std::string& id = said.empty() ? opening.command.agent_session_id : said;
  while (!opening.to_apply.empty()) {
    const acp::OptionValue option = std::move(opening.to_apply.front());
    opening.to_apply.pop_front();
    const std::string* const observed = opening.observed.find(option.option);
    if (observed && *observed == option.value) continue;
    std::string out;
    if (!client_->set_option(out, id, option)) {
      write(AgentUpdate{option_refused(no_such_option(option))});
      continue;
    }
    send(out);
    return;
  }
  finish_open();
}

void Agent::finish_open() {
  Opening opening = std::move(*opening_);
  opening_.reset();
  disarm(phase_timer_);
  phase_ = Phase::open;
  early_deaths_ = 0;
  const std::string& said = opening.answer->session_id;
  session_id_ = said.empty() ? opening.command.agent_session_id : said;
  // A resume must not replay, but some agents do.
  history_gate_ = opening.command.method != OpenMethod::fresh;
  late_replay_ = 0;
  late_replay_ms_ = 0;
  write(FrameSessionOpened{
      .method = opening.command.method,
      .agent_session_id = said,
      .replayed_prompts = opening.replayed_prompts,
      .replayed_updates = opening.replayed_updates,
      .replay_sha256 = opening.replayed_updates == 0 ? Hash{} : opening.replay_hash.take()});
  std::vector<acp::OptionValue> options;
  for (const auto& [name, value] : opening.observed) options.push_back({name, value});
  std::vector<FrameBody> frames;
  normaliser_.options(options, acp::options_update(opening.answer->result.text), frames);
  write_all(frames);
  for (acp::Updated& early : opening.early) on(std::move(early));
}

void Agent::fail_open(OpenFailure failure, std::string message) {
  const OpenSession command = std::move(opening_->command);
  opening_.reset();
  disarm(phase_timer_);
  phase_ = Phase::ready;
  if (!command.agent_session_id.empty()) refused_sessions_.set(command.agent_session_id);
  write(FrameOpenFailed{command.method, failure, std::move(message)});
}

}  // namespace perdure
