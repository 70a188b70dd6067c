#include "demo/demo_agent.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace perdure::demo {
namespace {

constexpr std::string_view agent_version = "1";

std::string session_name(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "demo-%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

DemoAgent::DemoAgent(DemoWorld& world, std::uint64_t seed) : world_(world), random_state_(seed) {}

void DemoAgent::feed(std::string_view bytes) {
  lines_.feed(bytes);
  while (const auto line = lines_.next()) on_line(*line);
}

std::string DemoAgent::take_output() { return std::exchange(output_, {}); }

void DemoAgent::tick(std::int64_t now_ms) {
  now_ms_ = std::max(now_ms_, now_ms);
  for (auto& [id, session] : sessions_) play(session);
}

std::optional<std::int64_t> DemoAgent::wake_at_ms() const {
  std::optional<std::int64_t> at;
  for (const auto& [id, session] : sessions_) {
    if (!session.turn || session.turn->question) continue;
    at = std::min(at.value_or(session.turn->due_ms), session.turn->due_ms);
  }
  return at;
}

void DemoAgent::update(const Session& session, const Update& update) {
  output_ += update_line(session.kept.id, update);
}

// splitmix64: for ids and small variations of pace.
std::uint64_t DemoAgent::random() {
  random_state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = random_state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

void DemoAgent::on_line(std::string_view line) {
  const auto message = parse_client_message(line);
  if (!message) {
    output_ += error_line({}, {-32700, "Parse error", {}});
  } else if (message->is_answer()) {
    on_answer(*message);
  } else if (message->is_request()) {
    on_request(*message);
  } else if (message->method == "session/cancel") {
    const LooseObject params(message->params.text);
    const auto at = sessions_.find(params.text("sessionId"));
    if (at != sessions_.end()) cancel(at->second);
  }
}

void DemoAgent::on_request(const ClientMessage& message) {
  const std::string& method = message.method;
  if (method == "initialize") return initialize(message);
  if (method == "session/new") return open_new(message);
  if (method == "session/load" || method == "session/resume") return reopen(message);
  if (method == "session/list") return list_sessions(message);
  if (method == "authenticate") {
    output_ += result_line(message.id, {"{}"});
    return;
  }
  const bool is_known = method == "session/prompt" || method == "session/set_mode" ||
                        method == "session/set_config_option" || method == "session/close";
  const LooseObject params(message.params.text);
  const auto at = sessions_.find(params.text("sessionId"));
  if (!is_known) {
    output_ += error_line(message.id, {-32601, "Method not found: " + method, {}});
  } else if (at == sessions_.end()) {
    output_ += error_line(message.id, {-32002, "Session not found", {}});
  } else {
    on_session_request(message, at->second);
  }
}

void DemoAgent::on_session_request(const ClientMessage& message, Session& session) {
  if (message.method == "session/set_mode") return set_mode(message, session);
  if (message.method == "session/set_config_option") return set_option(message, session);
  if (message.method == "session/prompt") {
    const LooseObject params(message.params.text);
    return accept_prompt(session, message.id, prompt_text(params.raw("prompt")).last);
  }
  cancel(session);
  const std::string id = session.kept.id;
  sessions_.erase(id);
  output_ += result_line(message.id, {"{}"});
}

void DemoAgent::initialize(const ClientMessage& message) {
  JsonWriter json;
  json.begin_object().key("protocolVersion").number(1);
  json.key("agentCapabilities").begin_object().key("loadSession").boolean(true);
  json.key("promptCapabilities").begin_object();
  json.key("image").boolean(false).key("embeddedContext").boolean(false).end_object();
  json.key("sessionCapabilities").begin_object();
  json.key("list").raw("{}").key("resume").raw("{}").key("close").raw("{}");
  json.end_object().end_object();
  json.key("agentInfo").begin_object().key("name").string("perdure-demo");
  json.key("title").string("Perdure demo agent").key("version").string(agent_version);
  json.end_object().key("authMethods").begin_array().end_array().end_object();
  output_ += result_line(message.id, {std::move(json).take()});
}

RawJson DemoAgent::opened_result(const Session& session) const {
  const std::vector<OptionView> options = session_options(session.kept);
  JsonWriter json;
  json.begin_object().key("sessionId").string(session.kept.id);
  json.key("modes").raw(modes_object(options.front()).text);
  json.key("configOptions").raw(options_array(options, Dialect::v1).text).end_object();
  return {std::move(json).take()};
}

void DemoAgent::announce(const Session& session) {
  update(session, commands_update(session_commands(), Dialect::v1));
  if (!session.kept.title.empty()) update(session, title_update(session.kept.title));
}

void DemoAgent::open_new(const ClientMessage& message) {
  const LooseObject params(message.params.text);
  Session session;
  do {
    session.kept.id = session_name(random());
  } while (world_.load_session(session.kept.id) || sessions_.contains(session.kept.id));
  session.kept.cwd = params.text("cwd");
  if (!session.kept.cwd.starts_with('/')) {
    output_ += error_line(message.id, {-32602, "Invalid params: cwd must be absolute", {}});
    return;
  }
  const std::string id = session.kept.id;
  const Session& opened = sessions_.emplace(id, std::move(session)).first->second;
  save(opened);
  output_ += result_line(message.id, opened_result(opened));
  announce(opened);
}

// load replays the history, resume does not; either restores the full memory.
void DemoAgent::reopen(const ClientMessage& message) {
  const LooseObject params(message.params.text);
  const std::string id = params.text("sessionId");
  const auto text = world_.load_session(id);
  auto kept = text ? decode_session(*text) : std::nullopt;
  if (!kept) {
    JsonWriter details;
    details.begin_object().key("sessionId").string(id).end_object();
    output_ += error_line(message.id, {-32002, "Resource not found", {std::move(details).take()}});
    return;
  }
  if (const auto at = sessions_.find(id); at != sessions_.end()) cancel(at->second);
  if (const std::string cwd = params.text("cwd"); cwd.starts_with('/')) kept->cwd = cwd;
  Session session;
  session.kept = std::move(*kept);
  const Session& opened = sessions_.insert_or_assign(id, std::move(session)).first->second;
  if (message.method == "session/load") {
    for (const Update& one : replay_updates(opened.kept)) update(opened, one);
  }
  output_ += result_line(message.id, opened_result(opened));
  announce(opened);
}

void DemoAgent::list_sessions(const ClientMessage& message) {
  const LooseObject params(message.params.text);
  const std::string cwd = params.text("cwd");
  JsonWriter json;
  json.begin_object().key("sessions").begin_array();
  for (const std::string& id : world_.list_sessions()) {
    const auto text = world_.load_session(id);
    const auto kept = text ? decode_session(*text) : std::nullopt;
    if (!kept || (!cwd.empty() && kept->cwd != cwd)) continue;
    json.begin_object().key("sessionId").string(id).key("cwd").string(kept->cwd);
    if (!kept->title.empty()) json.key("title").string(kept->title);
    json.end_object();
  }
  json.end_array().end_object();
  output_ += result_line(message.id, {std::move(json).take()});
}

void DemoAgent::set_option(const ClientMessage& message, Session& session) {
  const LooseObject params(message.params.text);
  const std::string id = params.text("configId");
  const std::string value = params.text("value");
  const std::vector<OptionView> options = session_options(session.kept);
  const auto at = std::ranges::find_if(
      options, [&](const OptionView& one) { return one.id == id && one.has(value); });
  if (at == options.end()) {
    output_ += error_line(message.id, {-32602, "Invalid params: no such option or value", {}});
    return;
  }
  (id == "mode" ? session.kept.mode : session.kept.model) = value;
  save(session);
  if (id == "mode") update(session, mode_update(value));
  JsonWriter json;
  json.begin_object().key("configOptions");
  json.raw(options_array(session_options(session.kept), Dialect::v1).text).end_object();
  output_ += result_line(message.id, {std::move(json).take()});
}

void DemoAgent::set_mode(const ClientMessage& message, Session& session) {
  const LooseObject params(message.params.text);
  const std::string mode = params.text("modeId");
  if (!session_options(session.kept).front().has(mode)) {
    output_ += error_line(message.id, {-32602, "Invalid params: no such mode", {}});
    return;
  }
  session.kept.mode = mode;
  save(session);
  update(session, options_update(session_options(session.kept), Dialect::v1));
  output_ += result_line(message.id, {"{}"});
}

}  // namespace perdure::demo
