// Handles each message from the agent. Nothing here may fail because of its content.
#include <utility>
#include <variant>

#include "agentctl/supervisor/agent/agent.h"
#include "base/limits.h"
#include "base/probe.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::size_t error_text_bytes_max = 2048;  // of a turn's text that is checked for an error

// An id's share of the total, so that all open requests together stay within it.
constexpr std::size_t request_id_bytes_max = agent_ids_bytes_max / agent_requests_open_max;

bool is_history(const acp::UpdateBody& body) {
  return std::holds_alternative<acp::MessageChunk>(body) ||
         std::holds_alternative<acp::MessageWhole>(body) ||
         std::holds_alternative<acp::ToolUpserted>(body) ||
         std::holds_alternative<acp::ToolContentAdded>(body) ||
         std::holds_alternative<acp::PlanShown>(body) ||
         std::holds_alternative<acp::PlanRemoved>(body) ||
         std::holds_alternative<acp::UsageShown>(body) ||
         std::holds_alternative<acp::CompactionShown>(body) ||
         std::holds_alternative<acp::CompactionChunk>(body);
}

}  // namespace

void Agent::dispatch(acp::Event event) {
  std::visit([this](auto& one) { on(std::move(one)); }, event);
}

void Agent::on(acp::Initialized event) {
  if (phase_ != Phase::starting) return;
  disarm(phase_timer_);
  phase_ = Phase::ready;
  abilities_ = event.abilities;
  write(FrameAgentStarted{
      {.abilities = {.resume = event.abilities.resume, .load = event.abilities.load},
       .version = event.agent_version,
       .initialize = std::move(event.result)}});
}

void Agent::on(acp::Updated event) {
  if (refused_sessions_.find(event.session_id)) {
    SIM_PROBE("update of a refused session dropped");
    ++updates_dropped_;
    return;
  }
  if (phase_ == Phase::opening) return gate(std::move(event));
  const bool is_ours = event.session_id.empty() || event.session_id == session_id_;
  if (is_ours && history_gate_ && !turn_ && is_history(event.update.body)) {
    SIM_PROBE("replay after its answer dropped");
    ++updates_dropped_;  // R4: the replay continues after its answer
    ++late_replay_;
    late_replay_ms_ = ports_.clock.now().since_boot.ms;
    return;
  }
  if (phase_ != Phase::open && phase_ != Phase::stopping) {
    ++updates_dropped_;
    return;
  }
  if (is_ours) return show(std::move(event));
  // Another session of the same agent, perhaps a sub-agent: kept unchanged.
  write(AgentUpdate{std::move(event.update.raw)});
}

void Agent::show(acp::Updated event) {
  std::vector<FrameBody> frames;
  normaliser_.update(std::move(event.update), frames);
  note_said(frames);
  write_all(frames);
}

void Agent::note_said(const std::vector<FrameBody>& frames) {
  if (!turn_) return;
  for (const FrameBody& frame : frames) {
    if (const auto* message = get_if<MessageAgent>(&frame)) {
      const std::size_t room = error_text_bytes_max - turn_->said.size();
      turn_->said += utf8_prefix(message->text, room);
    }
    turn_->did_more = turn_->did_more || holds_alternative<ToolCall>(frame) ||
                      holds_alternative<ToolUpdate>(frame) || holds_alternative<Plan>(frame);
  }
}

// Conversation is history here. Settings are initial values, reported once the session is open.
void Agent::gate(acp::Updated event) {
  Opening& opening = *opening_;
  const bool fresh = opening.command.method == OpenMethod::fresh;
  if (fresh || !is_history(event.update.body)) {
    SIM_PROBE("early update kept until the session is open");
    opening.early_bytes += event.update.raw.text.size();
    if (opening.early.size() < early_updates_max && opening.early_bytes <= early_bytes_max) {
      opening.early.push_back(std::move(event));
    } else {
      ++updates_dropped_;
    }
    return;
  }
  SIM_PROBE("replay gated");
  ++opening.replayed_updates;
  opening.replay_hash.add(event.update.raw.text);
  opening.replay_hash.add("\n");
  const auto* chunk = std::get_if<acp::MessageChunk>(&event.update.body);
  const auto* whole = std::get_if<acp::MessageWhole>(&event.update.body);
  const bool by_user = (chunk && chunk->speaker == acp::Speaker::user) ||
                       (whole && whole->speaker == acp::Speaker::user);
  if (by_user) {
    const std::string& id = chunk ? chunk->message_id : whole->message_id;
    if (!opening.in_user_message || id != opening.user_message_id) ++opening.replayed_prompts;
    opening.user_message_id = id;
  }
  opening.in_user_message = by_user;
}

void Agent::on(acp::PermissionAsked event) {
  std::string request = "request-" + std::to_string(++requests_);
  const bool is_over = (turn_ && turn_->cancelling) || phase_ == Phase::stopping;
  if (is_over) SIM_PROBE("question of a turn that is being cancelled");
  const bool no_room =
      permissions_.size() >= waits_open_max || event.id.text.size() > request_id_bytes_max;
  if (is_over || no_room) {
    std::string out;
    client_->answer_permission_cancelled(out, event.id);
    return send(out);
  }
  std::vector<FrameBody> frames;
  if (event.tool && !event.tool->tool_call_id.empty()) {
    normaliser_.tool(*event.tool, RawJson{}, frames);
  }
  FramePermission asked{.request = request,
                        .tool_call_id = std::move(event.tool_call_id),
                        .title = question_title(event.title),
                        .update = std::move(event.params)};
  for (acp::PermissionChoice& choice : event.choices) {
    asked.options.push_back({choice.option_id, choice.name, choice.kind});
  }
  asked.options = options_offered(std::move(asked.options));
  asked.options_left_out = event.choices.size() - asked.options.size();
  frames.emplace_back(std::move(asked));
  // An agent that reuses the id of an open question drops that question (X18).
  std::erase_if(permissions_, [&](const auto& entry) {
    if (entry.second.id != event.id) return false;
    SIM_PROBE("permission id used again while its question is open");
    frames.insert(frames.begin(), FramePermissionGone{entry.first});
    return true;
  });
  permissions_.emplace(std::move(request), Permission{event.id, turn_ ? turn_->run : RunId{}});
  note_wait();
  write_all(frames);
}

// Only open questions get an answer: the agent may withdraw one that was already answered.
void Agent::on(acp::AskedNoMore event) {
  bool is_open = asked_.erase(event.id) > 0;
  for (const auto& [request, permission] : permissions_) {
    if (permission.id != event.id) continue;
    write(FramePermissionGone{request});
    permissions_.erase(request);
    is_open = true;
    break;
  }
  if (!is_open) return;
  std::string out;
  client_->give_error(out, event.id, {acp::rpc_code::cancelled, "cancelled", {}});
  send(out);
}

void Agent::on(acp::Asked event) {
  // Before the reply comes, the agent may withdraw its request, reuse the id for another, or end.
  const bool no_room = asked_.size() >= agent_requests_open_max && !asked_.contains(event.id);
  if (no_room || event.id.text.size() > request_id_bytes_max) {
    std::string out;
    client_->give_error(out, event.id, too_many_requests());
    return send(out);
  }
  const std::uint64_t number = ++requests_;
  asked_[event.id] = number;
  auto reply = [this, number, id = event.id](std::expected<std::string, acp::RpcError> answer) {
    const auto found = asked_.find(id);
    if (found == asked_.end() || found->second != number) return;
    asked_.erase(found);
    std::string out;
    if (answer) {
      client_->give_result(out, id, *answer);
    } else {
      client_->give_error(out, id, answer.error());
    }
    send(out);
  };
  if (ports_.requests && ports_.requests->serve(event.method, event.params.text, reply)) return;
  reply(std::unexpected(
      acp::RpcError{acp::rpc_code::method_not_found, "method not found: " + event.method, {}}));
}

void Agent::on(acp::CallFailed event) {
  switch (event.call) {
    case acp::Call::initialize: return end_by("initialize failed: " + error_text(event.error));
    case acp::Call::open_new:
    case acp::Call::load:
    case acp::Call::resume: {
      if (!is_awaited({event.call, event.session_id})) return;
      const bool has_servers = !setup_.launch.mcp_servers.text.empty();
      if (event.failure == acp::Failure::invalid_params && has_servers && !opening_->without_mcp) {
        opening_->without_mcp = true;  // X15: some agents accept none on load
        return call_open();
      }
      return fail_open(open_failure(event.failure), error_text(event.error));
    }
    case acp::Call::prompt: return fail_turn(event);
    case acp::Call::set_option:
      // Visible, but not a reason to stop (R9).
      write(AgentUpdate{option_refused(event.error)});
      if (phase_ == Phase::opening) return option_answered();
      if (!setting_.empty()) setting_.pop_front();
      return set_next_option();
    default: return;
  }
}

void Agent::on(acp::OptionSet event) {
  if (phase_ == Phase::opening) {
    observe(event.options);
    return option_answered();
  }
  std::vector<FrameBody> frames;
  normaliser_.options(event.options, {}, frames);
  write_all(frames);
  if (!setting_.empty()) setting_.pop_front();
  set_next_option();
}

void Agent::on(acp::Answered) {}

// Kept with the agent's stderr, where a person can find it.
void Agent::on(acp::Noise event) { on_error_output("[stdout] " + event.text + "\n"); }

void Agent::on(acp::Notified event) {
  JsonWriter json;
  json.begin_object().key("method").string(event.method);
  if (!event.params.text.empty()) json.key("params").raw(event.params.text);
  json.end_object();
  if (phase_ == Phase::open) write(AgentUpdate{RawJson{std::move(json).take()}});
}

}  // namespace perdure
