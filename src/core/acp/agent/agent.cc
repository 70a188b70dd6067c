#include "core/acp/agent/agent.h"

#include <utility>

#include "core/acp/agent/agent_reading.h"
#include "core/acp/updates/open_calls.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {

struct Agent::Parts final : LineSink {
  explicit Parts(AgentSetup given) : setup(std::move(given)), lines(setup.line_bytes_max) {}

  void on_object(std::string_view json) override;
  void on_noise(std::string_view bytes, NoiseKind kind) override { add(make_noise(bytes, kind)); }
  void on_notification(const RpcMessage& message);
  void on_answer(const RpcMessage& message);
  void add(AgentEvent event) { events->push_back(std::move(event)); }

  AgentSetup setup;
  Dialect dialect = Dialect::v1;
  LineReader lines;
  OpenCalls calls;
  std::vector<AgentEvent>* events = nullptr;  // during feed() only
};

namespace {

constexpr std::string_view permission_method = "session/request_permission";

void write_abilities_v1(JsonWriter& writer, const AgentAbilities& abilities) {
  const auto marker = [&](std::string_view key, bool is_there) {
    if (is_there) writer.key(key).begin_object().end_object();
  };
  writer.begin_object().key("loadSession").boolean(abilities.load);
  writer.key("promptCapabilities").begin_object().key("image").boolean(abilities.image);
  writer.key("audio").boolean(abilities.audio);
  writer.key("embeddedContext").boolean(abilities.embedded_context).end_object();
  writer.key("sessionCapabilities").begin_object();
  marker("list", abilities.list);
  marker("resume", abilities.resume);
  marker("close", abilities.close);
  marker("delete", abilities.remove);
  marker("fork", abilities.fork);
  writer.end_object().end_object();
}

void write_abilities_v2(JsonWriter& writer, const AgentAbilities& abilities) {
  const auto marker = [&](std::string_view key, bool is_there) {
    if (is_there) writer.key(key).begin_object().end_object();
  };
  writer.begin_object().key("session").begin_object().key("prompt").begin_object();
  marker("image", abilities.image);
  marker("audio", abilities.audio);
  marker("embeddedContext", abilities.embedded_context);
  writer.end_object();
  marker("delete", abilities.remove);
  marker("fork", abilities.fork);
  writer.end_object().end_object();
}

void write_self(JsonWriter& writer, const AgentSetup& setup) {
  writer.begin_object().key("name").string(setup.name);
  if (!setup.title.empty()) writer.key("title").string(setup.title);
  writer.key("version").string(setup.version).end_object();
}

void write_modes(JsonWriter& writer, const SessionAnswer& answer) {
  writer.key("modes").begin_object().key("currentModeId").string(answer.mode);
  writer.key("availableModes").begin_array();
  for (const OptionChoice& mode : answer.modes) {
    writer.begin_object().key("id").string(mode.value).key("name").string(mode.name).end_object();
  }
  writer.end_array().end_object();
}

void write_listed(JsonWriter& writer, const SessionListed& session) {
  writer.begin_object().key("sessionId").string(session.session_id);
  writer.key("cwd").string(session.cwd);
  if (!session.title.empty()) writer.key("title").string(session.title);
  if (!session.updated_at.empty()) writer.key("updatedAt").string(session.updated_at);
  writer.end_object();
}

}  // namespace

void Agent::Parts::on_object(std::string_view json) {
  const auto message = parse_rpc(json);
  if (!message) return on_noise(json, NoiseKind::not_message);
  switch (message->kind) {
    case RpcMessage::Kind::notification: return on_notification(*message);
    case RpcMessage::Kind::result:
    case RpcMessage::Kind::error: return on_answer(*message);
    case RpcMessage::Kind::request: break;
  }
  AgentEvent event = read_request(*message);
  if (const auto* asked = std::get_if<InitializeAsked>(&event)) {
    const bool wants_v2 = asked->protocol_version >= 2;
    dialect = wants_v2 && setup.versions == Versions::v1_and_v2 ? Dialect::v2 : Dialect::v1;
  }
  add(std::move(event));
}

void Agent::Parts::on_notification(const RpcMessage& message) {
  const Slices params(message.params);
  if (message.method == "session/cancel") return add(CancelTold{params.text("sessionId")});
  if (message.method == "$/cancel_request") {
    return add(RequestTakenBack{{std::string(params.raw("requestId"))}});
  }
  add(OtherTold{message.method, {std::string(message.params)}});
}

void Agent::Parts::on_answer(const RpcMessage& message) {
  const auto call = calls.take(message.id);
  if (!call) return;  // not in reply to any request
  if (message.kind == RpcMessage::Kind::error) {
    return add(AnswerRefused{message.id, parse_rpc_error(message.error)});
  }
  if (call->method != permission_method) {
    return add(AnswerGiven{message.id, {std::string(message.result)}});
  }
  const Slices outcome(Slices(message.result).raw("outcome"));
  const bool is_selected = outcome.text("outcome") == "selected";
  add(PermissionAnswered{message.id, is_selected ? outcome.text("optionId") : std::string()});
}

Agent::Agent(AgentSetup setup) : parts_(std::make_unique<Parts>(std::move(setup))) {}
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;
Agent::~Agent() = default;

void Agent::feed(std::string_view bytes, std::vector<AgentEvent>& events) {
  parts_->events = &events;
  parts_->lines.feed(bytes, *parts_);
  parts_->events = nullptr;
}

void Agent::feed_end(std::vector<AgentEvent>& events) {
  parts_->events = &events;
  parts_->lines.feed_end(*parts_);
  parts_->events = nullptr;
}

Dialect Agent::dialect() const { return parts_->dialect; }

void Agent::answer_initialize(std::string& out, const RpcId& id, std::string_view auth_methods) {
  const bool is_v2 = parts_->dialect == Dialect::v2;
  JsonWriter writer;
  writer.begin_object().key("protocolVersion").number(is_v2 ? 2 : 1);
  write_self(writer.key(is_v2 ? "info" : "agentInfo"), parts_->setup);
  if (is_v2) {
    write_abilities_v2(writer.key("capabilities"), parts_->setup.abilities);
  } else {
    write_abilities_v1(writer.key("agentCapabilities"), parts_->setup.abilities);
  }
  writer.key("authMethods").raw(auth_methods.empty() ? "[]" : auth_methods).end_object();
  append_result(out, id, writer.text());
}

void Agent::answer_session(std::string& out, const RpcId& id, const SessionAnswer& answer) {
  JsonWriter writer;
  writer.begin_object();
  if (!answer.session_id.empty()) writer.key("sessionId").string(answer.session_id);
  if (!answer.modes.empty() && parts_->dialect == Dialect::v1) write_modes(writer, answer);
  if (!answer.options.empty()) {
    writer.key("configOptions").raw(print_options(answer.options, parts_->dialect));
  }
  append_result(out, id, writer.end_object().text());
}

void Agent::answer_list(std::string& out, const RpcId& id, const ListAnswer& answer) {
  JsonWriter writer;
  writer.begin_object().key("sessions").begin_array();
  for (const SessionListed& session : answer.sessions) write_listed(writer, session);
  writer.end_array();
  if (!answer.next_cursor.empty()) writer.key("nextCursor").string(answer.next_cursor);
  append_result(out, id, writer.end_object().text());
}

void Agent::answer_options(std::string& out, const OptionAsked& asked,
                           const std::vector<ConfigOption>& options) {
  if (asked.by_mode) return answer_empty(out, asked.id);
  append_result(out, asked.id,
                R"({"configOptions":)" + print_options(options, parts_->dialect) + '}');
}

void Agent::answer_empty(std::string& out, const RpcId& id) { append_result(out, id, "{}"); }

void Agent::give_result(std::string& out, const RpcId& id, std::string_view result) {
  append_result(out, id, result);
}

void Agent::give_error(std::string& out, const RpcId& id, const RpcError& error) {
  append_error(out, id, error);
}

void Agent::begin_turn(std::string& out, const PromptAsked& prompt, std::string_view message_id) {
  if (parts_->dialect == Dialect::v1) return;
  JsonWriter writer;
  writer.begin_object().key("messageId").string(message_id).end_object();
  append_result(out, prompt.id, writer.text());
  update(out, prompt.session_id, StateShown{.state = "running"});
}

void Agent::end_turn(std::string& out, const PromptAsked& prompt, const TurnEnd& end) {
  if (parts_->dialect == Dialect::v2) {
    return update(out, prompt.session_id,
                  StateShown{.state = "idle", .stop_reason = end.stop_reason, .usage = end.usage});
  }
  JsonWriter writer;
  writer.begin_object().key("stopReason").string(end.stop_reason);
  if (!end.usage.text.empty()) writer.key("usage").raw(end.usage.text);
  append_result(out, prompt.id, writer.end_object().text());
}

void Agent::update(std::string& out, std::string_view session_id, const UpdateBody& body) {
  update_raw(out, session_id, print_update(body, parts_->dialect));
}

void Agent::update_raw(std::string& out, std::string_view session_id, std::string_view update) {
  JsonWriter writer;
  writer.begin_object().key("sessionId").string(session_id).key("update").raw(update);
  append_notification(out, {"session/update", writer.end_object().text()});
}

RpcId Agent::ask_permission(std::string& out, std::string_view session_id,
                            const PermissionQuestion& question) {
  const std::string tool = print_tool(question.tool, parts_->dialect);
  JsonWriter writer;
  writer.begin_object().key("sessionId").string(session_id);
  if (parts_->dialect == Dialect::v2) {
    writer.key("title").string(question.title);
    writer.key("subject").begin_object().key("type").string("tool_call");
    writer.key("toolCall").raw(tool).end_object();
  } else {
    writer.key("toolCall").raw(tool);
  }
  writer.key("options").raw(print_choices(question.choices)).end_object();
  return ask(out, {permission_method, writer.text()});
}

RpcId Agent::ask(std::string& out, const RpcCall& call) {
  RpcId id = parts_->calls.add({.method = std::string(call.method)});
  append_request(out, id, call);
  return id;
}

void Agent::tell(std::string& out, const RpcCall& call) { append_notification(out, call); }

}  // namespace perdure::acp
