// The life of a turn in the test agent: accepted, run step by step as time and answers allow, ended
// once. Like real agents, it stores a prompt at once, but a turn's output only at its end.
#include <algorithm>
#include <utility>

#include "base/time.h"
#include "testing/agent/test_agent.h"

namespace perdure::testagent {

using demo::ClientMessage;
using demo::Dialect;
using demo::LooseObject;

namespace {

constexpr std::size_t waiting_prompts_max = 100;
constexpr std::int64_t background_gap_ms = 20;

// The instructions: the last non-blank line. History inserted before the prompt is above it.
std::string_view last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const std::size_t before = text.find_last_of('\n');
  return before == std::string_view::npos ? text : text.substr(before + 1);
}

RawJson usage_object(const KeptSession& kept) {
  JsonWriter json;
  json.begin_object().key("inputTokens").number(kept.tokens_used);
  json.key("outputTokens").number(20).key("totalTokens").number(kept.tokens_used + 20);
  json.end_object();
  return {std::move(json).take()};
}

std::string message_id(std::int64_t prompt_number) {
  return "user-" + std::to_string(prompt_number);
}

}  // namespace

void TestAgent::save(const Session& session) {
  if (switches_.persist_only_on_clean_exit) return;
  if (session.kept.prompt_count == 0 && !switches_.persist_unprompted) return;
  home_.put(session.kept.id, encode_session(session.kept));
}

bool TestAgent::refuses_prompt(const ClientMessage& message) {
  if (switches_.auth_required == "prompt" && !authenticated_) {
    frame(demo::error_line(message.id, {-32000, "Authentication required", {}}));
    return true;
  }
  if (!switches_.rate_limit || switches_.rate_limit->as_text) return false;
  if (limited_until_ms_ < 0) limited_until_ms_ = now_ms_ + switches_.rate_limit->reset_s * 1000;
  if (now_ms_ >= limited_until_ms_) return false;
  JsonWriter details;
  details.begin_object().key("errorKind").string("rate_limit").key("resetsAt");
  details.string(format_timestamp({limited_until_ms_})).end_object();
  frame(demo::error_line(message.id, {-32603, "Rate limit reached", {std::move(details).take()}}));
  return true;
}

void TestAgent::accept_prompt(const ClientMessage& message, Session& session) {
  if (refuses_prompt(message)) return;
  const LooseObject params(message.params.text);
  Prompt prompt{message.id, demo::prompt_text(params.raw("prompt"))};
  if (session.turn && switches_.when_busy == WhenBusy::cancel_first) cancel(session);
  const bool refuses =
      switches_.when_busy == WhenBusy::refuse || session.waiting.size() >= waiting_prompts_max;
  if (session.turn && refuses) {
    return frame(demo::error_line(message.id, {-32600, "A prompt is being worked on", {}}));
  }
  if (session.turn) {
    session.waiting.push_back(std::move(prompt));
  } else {
    start_turn(session, std::move(prompt));
  }
}

void TestAgent::start_turn(Session& session, Prompt prompt) {
  KeptSession& kept = session.kept;
  Turn turn;
  turn.request = prompt.request;
  turn.number = ++kept.prompt_count;
  turn.steps = parse_script(last_line(prompt.text.last));
  turn.not_before_ms = now_ms_;
  turn.background = switches_.background_updates;
  if (switches_.clear_after == turn.number) turn.steps.push_front({.verb = Verb::clear});
  if (switches_.compact_after == turn.number) turn.steps.push_front({.verb = Verb::compact});
  add_switched_steps(turn);
  kept.prompts.push_back(prompt.text.all);
  kept.remember({"user", message_id(turn.number), prompt.text.all});
  kept.tokens_used += 100;
  save(session);
  stderr_left_ += switches_.stderr_bytes;
  if (dialect_ == Dialect::v2) {
    JsonWriter echo;
    echo.begin_object().key("sessionUpdate").string("user_message");
    echo.key("messageId").string(message_id(turn.number)).key("content").begin_array();
    echo.begin_object().key("type").string("text").key("text").string(prompt.text.all);
    echo.end_object().end_array().end_object();
    update(session, {std::move(echo).take()});
    JsonWriter accepted;
    accepted.begin_object().key("messageId").string(message_id(turn.number)).end_object();
    frame(demo::result_line(turn.request, {std::move(accepted).take()}));
    state_update(session, "running");
  }
  session.turn = std::move(turn);
}

// Switches act on every turn: steps added first run first.
void TestAgent::add_switched_steps(Turn& turn) const {
  std::deque<Step> first;
  if (switches_.rate_limit && switches_.rate_limit->as_text) {
    const std::int64_t reset_ms = now_ms_ + switches_.rate_limit->reset_s * 1000;
    turn.steps = {
        {.verb = Verb::say,
         .count = 1,
         .text = "You have hit your limit; it resets at " + format_timestamp({reset_ms})}};
  }
  if (switches_.permission_then_exit) first.push_back({.verb = Verb::exit_asking});
  if (switches_.exit_zero_mid_prompt) {
    first.push_back({.verb = Verb::say, .count = 1});
    first.push_back({.verb = Verb::exit, .count = 0});
  }
  if (switches_.permission.count > 0) {
    first.push_back({.verb = Verb::permission,
                     .count = switches_.permission.count,
                     .concurrent = switches_.permission.concurrent,
                     .reused_id = switches_.permission.reused_id});
  }
  if (switches_.huge_chunk_bytes > 0) {
    first.push_back({.verb = Verb::huge, .size = switches_.huge_chunk_bytes});
  }
  if (switches_.invalid_utf8) first.push_back({.verb = Verb::broken_utf8});
  if (switches_.invalid_json) {
    first.push_back({.verb = Verb::raw, .text = R"({"jsonrpc":"2.0","method":"session/upd)"});
  }
  turn.steps.insert(turn.steps.begin(), first.begin(), first.end());
}

// Runs at most one step; false: nothing can run now.
bool TestAgent::run_turn(Session& session) {
  if (!session.turn || ended_) return false;
  Turn& turn = *session.turn;
  if (turn.hangs || turn.asks_open > 0 || turn.not_before_ms > now_ms_) return false;
  if (switches_.odd_per_million > 0 && random() % 1'000'000 < switches_.odd_per_million) {
    misbehave(session);
    return true;
  }
  if (turn.steps.empty()) {
    end_turn(session);
    return true;
  }
  const Step step = turn.steps.front();
  switch (run_step(session, turn, step)) {
    case Progress::again: break;
    case Progress::blocked: break;
    case Progress::next_step:
      turn.steps.pop_front();
      turn.progress = 0;
      break;
  }
  return true;
}

void TestAgent::misbehave(Session& session) {
  Turn& turn = *session.turn;
  switch (random() % 10) {
    case 0: act(ExitProcess{0}); break;
    case 1: die(Death::killed); break;
    case 2: turn.hangs = true; break;
    case 3: act(WriteStdout{"garbage { \x01\xff ]\n"}); break;
    case 4: act(WriteStdout{R"({"jsonrpc":"2.0","id":)"}), act(ExitProcess{1}); break;
    case 5: turn.steps.push_front({.verb = Verb::huge, .size = 2 << 20}); break;
    case 6: answer_turn(session, turn); break;  // once more at the end
    case 7: turn.not_before_ms = now_ms_ + static_cast<std::int64_t>(random() % 5000); break;
    case 8: turn.background += 1; break;
    default: act(WriteStderr{"a warning that means nothing\n"}); break;
  }
}

void TestAgent::answer_turn(Session& session, const Turn& turn) {
  if (dialect_ == Dialect::v1 && turn.error) {
    return frame(demo::error_line(turn.request, *turn.error));
  }
  JsonWriter json;
  json.begin_object();
  if (dialect_ == Dialect::v2) {
    json.key("sessionUpdate").string("state_update").key("state").string("idle");
  }
  json.key("stopReason").string(turn.error ? "error" : turn.stop_reason);
  json.key("usage").raw(usage_object(session.kept).text).end_object();
  if (dialect_ == Dialect::v2) return update(session, {std::move(json).take()});
  frame(demo::result_line(turn.request, {std::move(json).take()}));
}

void TestAgent::end_turn(Session& session) {
  Turn& open = *session.turn;
  if (switches_.never_complete && open.stop_reason != "cancelled") {
    open.hangs = true;
    return;
  }
  if (!open.error && open.stop_reason == "end_turn" && open.chunks > 0) {
    const std::string marker =
        "<p" + std::to_string(open.number) + ":end=" + std::to_string(open.chunks) + ">";
    const std::string id = "agent-" + std::to_string(open.number);
    update(session, demo::chunk_update({demo::Speaker::agent, marker, id}));
    session.kept.remember({"agent", id, marker});
  }
  const Turn turn = std::move(open);
  session.turn.reset();
  save(session);
  answer_turn(session, turn);
  for (std::int64_t i = 1; i <= turn.background; ++i) {
    const std::string text =
        "<b" + std::to_string(turn.number) + ":" + std::to_string(i) + ">in the background ";
    const std::string id = "background-" + std::to_string(turn.number);
    frame_later(
        i * background_gap_ms,
        demo::update_line(session.kept.id, demo::chunk_update({demo::Speaker::agent, text, id})));
  }
  if (session.waiting.empty() || ended_) return;
  Prompt next = std::move(session.waiting.front());
  session.waiting.pop_front();
  start_turn(session, std::move(next));
}

void TestAgent::cancel(Session& session) {
  if (switches_.ignore_cancel || !session.turn) return;
  for (const Prompt& prompt : std::exchange(session.waiting, {})) {
    frame(demo::result_line(prompt.request, {R"({"stopReason":"cancelled"})"}));
  }
  Turn& turn = *session.turn;
  if (!turn.open_tool.empty() && !switches_.cancel_leaves_tools) {
    update(session, demo::tool_update({.id = turn.open_tool, .status = "failed"},
                                      demo::Mention::later, dialect_));
  }
  std::erase_if(asks_, [&](const auto& ask) { return ask.second.session_id == session.kept.id; });
  turn.steps.clear();
  turn.error.reset();
  turn.hangs = false;
  turn.asks_open = 0;
  turn.stop_reason = "cancelled";
  end_turn(session);
}

void TestAgent::on_answer(const ClientMessage& message) {
  const auto at = asks_.find(message.id.json);
  if (at == asks_.end()) return;  // late, or never requested
  const Ask ask = at->second;
  asks_.erase(at);
  const auto found = sessions_.find(ask.session_id);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  if (!session.turn || session.turn->number != ask.prompt_number) return;
  Turn& turn = *session.turn;
  turn.asks_open -= 1;
  if (turn.asks_open == 0) state_update(session, "running");
  if (ask.tool_id.empty()) {
    say(session, turn,
        message.error.text.empty() ? "result " + message.result.text
                                   : "error " + message.error.text);
    return;
  }
  const std::string chosen = chosen_option(message);
  const bool allowed = chosen.starts_with("allow");
  if (turn.open_tool == ask.tool_id) turn.open_tool.clear();
  update(session, demo::tool_update({.id = ask.tool_id,
                                     .status = allowed ? "completed" : "failed",
                                     .text = chosen.empty() ? "no answer" : chosen},
                                    demo::Mention::later, dialect_));
  say(session, turn, ask.tool_id + " " + (chosen.empty() ? "cancelled" : chosen) + " ");
}

}  // namespace perdure::testagent
