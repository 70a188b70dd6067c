#include "core/acp/client/client.h"

#include <utility>

#include "core/acp/client/client_dialect.h"
#include "core/acp/client/client_reading.h"
#include "core/acp/client/client_sessions.h"
#include "core/acp/updates/open_calls.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {

struct Client::Parts final : LineSink {
  explicit Parts(ClientSetup given)
      : setup(std::move(given)),
        dialect(setup.protocol_version == 2 ? &client_dialect_v2() : &client_dialect_v1()) {}

  void on_object(std::string_view json) override;
  void on_noise(std::string_view bytes, NoiseKind kind) override { add(make_noise(bytes, kind)); }

  void on_update(std::string_view params);
  void on_state(const std::string& session_id, const StateShown& state);
  void on_notification(const RpcMessage& message);
  void on_request(const RpcMessage& message);
  void on_result(OpenCall call, std::string_view result);
  void on_initialized(std::string_view result);
  void on_opened(OpenCall call, std::string_view result);
  void on_option_set(OpenCall call, std::string_view result);
  void on_prompt_answered(OpenCall call, std::string_view result);
  void fail(OpenCall call, RpcError error);

  void say(std::string& out, OpenCall call, std::string_view params);
  void say(std::string& out, OpenCall call, Spoken spoken) {
    call.method = spoken.method;
    say(out, std::move(call), spoken.params);
  }
  void add(Event event) { events->push_back(std::move(event)); }

  ClientSetup setup;
  const ClientDialect* dialect;
  LineReader lines;
  OpenCalls calls;
  KnownSessions sessions;
  std::uint64_t dropped = 0;
  std::vector<Event>* events = nullptr;  // during feed() only
};

void Client::Parts::on_object(std::string_view json) {
  const auto message = parse_rpc(json);
  if (!message) return on_noise(json, NoiseKind::not_message);
  switch (message->kind) {
    case RpcMessage::Kind::notification: return on_notification(*message);
    case RpcMessage::Kind::request: return on_request(*message);
    case RpcMessage::Kind::result:
    case RpcMessage::Kind::error: break;
  }
  const bool is_error = message->kind == RpcMessage::Kind::error;
  // An error without an id answers no call: the agent rejected a notification or a line.
  if (is_error && message->id.is_null()) { return on_noise(json, NoiseKind::not_message); }
  auto call = calls.take(message->id);
  if (!call) {
    ++dropped;
  } else if (is_error) {
    fail(*std::move(call), parse_rpc_error(message->error));
  } else {
    on_result(*std::move(call), message->result);
  }
}

void Client::Parts::on_notification(const RpcMessage& message) {
  if (message.method == "session/update") return on_update(message.params);
  if (message.method == "$/cancel_request") {
    return add(AskedNoMore{{std::string(Slices(message.params).raw("requestId"))}});
  }
  add(Notified{message.method, {std::string(message.params)}});
}

void Client::Parts::on_update(std::string_view params) {
  const Slices members(params);
  Event& event = events->emplace_back(std::in_place_type<Updated>, members.text("sessionId"),
                                      parse_update(members.raw("update")));
  const auto& updated = std::get<Updated>(event);
  if (const auto* shown = std::get_if<OptionsShown>(&updated.update.body)) {
    sessions.touch(updated.session_id).options = shown->options;
  }
  if (const auto* state = std::get_if<StateShown>(&updated.update.body)) {
    // Copies: the vector grows, which invalidates what they point into.
    on_state(std::string(updated.session_id), StateShown(*state));
  }
}

// An idle that does not follow work, or at least our prompt and a reason, may repeat an earlier
// one: it ends nothing.
void Client::Parts::on_state(const std::string& session_id, const StateShown& state) {
  KnownSession* session = sessions.find(session_id);
  if (session == nullptr || !session->turn) return;
  if (state.state != "idle") {
    session->turn->active |= state.state == "running" || state.state == "requires_action";
    return;
  }
  const bool ends =
      session->turn->active || (session->turn->acknowledged && !state.stop_reason.empty());
  if (!ends) return;
  session->turn.reset();
  if (state.stop_reason == "error" || state.error) {
    return fail({.call = Call::prompt, .session_id = session_id},
                state.error.value_or(RpcError{.message = "the turn ended with an error"}));
  }
  // In the draft, an agent may omit the reason; only a cancelled one must state it.
  add(TurnEnded{state.stop_reason.empty() ? "end_turn" : state.stop_reason, state.usage,
                session_id});
}

void Client::Parts::on_request(const RpcMessage& message) {
  if (message.method == "session/request_permission") return add(read_permission(message));
  add(Asked{message.id,
            Slices(message.params).text("sessionId"),
            message.method,
            {std::string(message.params)}});
}

void Client::Parts::on_result(OpenCall call, std::string_view result) {
  switch (call.call) {
    case Call::initialize: return on_initialized(result);
    case Call::open_new:
    case Call::load:
    case Call::resume: return on_opened(std::move(call), result);
    case Call::prompt: return on_prompt_answered(std::move(call), result);
    case Call::set_option: return on_option_set(std::move(call), result);
    default: break;
  }
  add(Answered{
      call.call, std::move(call.method), {std::string(result)}, std::move(call.session_id)});
}

void Client::Parts::on_initialized(std::string_view result) {
  Initialized initialized = read_initialized(result);
  if (initialized.protocol_version != 1 && initialized.protocol_version != 2) {
    return fail({.call = Call::initialize},
                {.code = rpc_code::version_unsupported,
                 .message = "the agent speaks no protocol version that we know",
                 .data = {std::string(result)}});
  }
  dialect = initialized.protocol_version == 2 ? &client_dialect_v2() : &client_dialect_v1();
  add(std::move(initialized));
}

void Client::Parts::on_opened(OpenCall call, std::string_view result) {
  SessionOpened opened{.call = call.call,
                       .session_id = Slices(result).text("sessionId"),
                       .options = read_options_shown(result),
                       .result = {std::string(result)},
                       .asked_session_id = std::move(call.session_id)};
  const std::string& id = opened.session_id.empty() ? opened.asked_session_id : opened.session_id;
  remember_options(result, sessions.touch(id));
  add(std::move(opened));
}

void Client::Parts::on_prompt_answered(OpenCall call, std::string_view result) {
  const Slices members(result);
  KnownSession* session = sessions.find(call.session_id);
  if (!dialect->prompt_answer_ends_turn() && !members.has("stopReason")) {
    if (session != nullptr && session->turn) session->turn->acknowledged = true;
    return;
  }
  if (session != nullptr) session->turn.reset();
  add(TurnEnded{members.text("stopReason"), members.json("usage"), std::move(call.session_id)});
}

void Client::Parts::on_option_set(OpenCall call, std::string_view result) {
  OptionSet set{.options = read_options_shown(result), .session_id = call.session_id};
  remember_options(result, sessions.touch(call.session_id));
  bool is_shown = false;
  for (const OptionValue& value : set.options) is_shown |= value.option == call.option.option;
  if (!is_shown) set.options.push_back(std::move(call.option));
  add(std::move(set));
}

void Client::Parts::fail(OpenCall call, RpcError error) {
  if (call.call == Call::prompt) {
    if (KnownSession* session = sessions.find(call.session_id)) session->turn.reset();
  }
  Verdict verdict = classify(call.call, error);
  add(CallFailed{.call = call.call,
                 .error = std::move(error),
                 .failure = verdict.failure,
                 .reset_at = verdict.reset_at,
                 .retry_after_ms = verdict.retry_after_ms,
                 .session_id = std::move(call.session_id)});
}

void Client::Parts::say(std::string& out, OpenCall call, std::string_view params) {
  const std::string method = call.method;
  append_request(out, calls.add(std::move(call)), {method, params});
}

Client::Client(ClientSetup setup) : parts_(std::make_unique<Parts>(std::move(setup))) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

void Client::feed(std::string_view bytes, std::vector<Event>& events) {
  parts_->events = &events;
  parts_->lines.feed(bytes, *parts_);
  parts_->events = nullptr;
}

void Client::feed_end(std::vector<Event>& events) {
  parts_->events = &events;
  parts_->lines.feed_end(*parts_);
  parts_->events = nullptr;
}

std::size_t Client::buffered_bytes() const { return parts_->lines.buffered_bytes(); }
std::uint64_t Client::lines_dropped() const { return parts_->dropped; }

void Client::initialize(std::string& out) {
  parts_->say(out, {.call = Call::initialize}, parts_->dialect->initialize(parts_->setup));
}

void Client::authenticate(std::string& out, std::string_view method_id) {
  parts_->say(out, {.call = Call::authenticate}, parts_->dialect->authenticate(method_id));
}

void Client::open_new(std::string& out, const SessionSetup& setup) {
  parts_->say(out, {.call = Call::open_new}, parts_->dialect->open_new(setup));
}

void Client::load(std::string& out, std::string_view session_id, const SessionSetup& setup) {
  parts_->say(out, {.call = Call::load, .session_id = std::string(session_id)},
              parts_->dialect->load(session_id, setup));
}

void Client::resume(std::string& out, std::string_view session_id, const SessionSetup& setup) {
  parts_->say(out, {.call = Call::resume, .session_id = std::string(session_id)},
              parts_->dialect->resume(session_id, setup));
}

void Client::prompt(std::string& out, std::string_view session_id, std::string_view blocks) {
  if (!parts_->dialect->prompt_answer_ends_turn()) {
    parts_->sessions.touch(session_id).turn = Turn{};
  }
  JsonWriter writer;
  writer.begin_object().key("sessionId").string(session_id).key("prompt").raw(blocks);
  parts_->say(out, {.call = Call::prompt, .session_id = std::string(session_id)},
              {"session/prompt", std::move(writer.end_object()).take()});
}

std::size_t Client::steer(std::string& out, std::string_view session_id, std::string_view blocks) {
  JsonWriter writer;
  writer.begin_object().key("sessionId").string(session_id).key("prompt").raw(blocks);
  const bool has_answer = parts_->dialect->prompt_answer_ends_turn();
  parts_->say(
      out, {.call = has_answer ? Call::prompt : Call::other, .session_id = std::string(session_id)},
      {"session/prompt", std::move(writer.end_object()).take()});
  return has_answer ? 1 : 0;
}

namespace {

std::string session_params(std::string_view session_id) {
  JsonWriter writer;
  writer.begin_object().key("sessionId").string(session_id).end_object();
  return std::move(writer).take();
}

}  // namespace

void Client::cancel(std::string& out, std::string_view session_id) {
  append_notification(out, {"session/cancel", session_params(session_id)});
}

bool Client::set_option(std::string& out, std::string_view session_id, const OptionValue& option) {
  const KnownSession* session = parts_->sessions.find(session_id);
  const auto handle = session == nullptr ? std::nullopt : session->find_option(option.option);
  if (!handle) return false;
  parts_->say(out,
              {.call = Call::set_option, .session_id = std::string(session_id), .option = option},
              parts_->dialect->set_option({session_id, *handle, option.value}));
  return true;
}

void Client::close_session(std::string& out, std::string_view session_id) {
  parts_->say(out, {.call = Call::close, .session_id = std::string(session_id)},
              {"session/close", session_params(session_id)});
}

void Client::remove_session(std::string& out, std::string_view session_id) {
  parts_->say(out, {.call = Call::remove, .session_id = std::string(session_id)},
              {"session/delete", session_params(session_id)});
}

void Client::list(std::string& out, std::string_view cursor) {
  JsonWriter writer;
  writer.begin_object();
  if (!cursor.empty()) writer.key("cursor").string(cursor);
  parts_->say(out, {.call = Call::list}, {"session/list", std::move(writer.end_object()).take()});
}

void Client::call(std::string& out, std::string_view method, std::string_view params) {
  parts_->say(out,
              {.call = method == "session/fork" ? Call::fork : Call::other,
               .method = std::string(method),
               .session_id = Slices(params).text("sessionId")},
              params);
}

void Client::answer_permission(std::string& out, const RpcId& id, std::string_view option_id) {
  JsonWriter writer;
  writer.begin_object().key("outcome").begin_object().key("outcome").string("selected");
  writer.key("optionId").string(option_id).end_object().end_object();
  append_result(out, id, writer.text());
}

void Client::answer_permission_cancelled(std::string& out, const RpcId& id) {
  append_result(out, id, R"({"outcome":{"outcome":"cancelled"}})");
}

void Client::give_result(std::string& out, const RpcId& id, std::string_view result) {
  append_result(out, id, result);
}

void Client::give_error(std::string& out, const RpcId& id, const RpcError& error) {
  append_error(out, id, error);
}

}  // namespace perdure::acp
