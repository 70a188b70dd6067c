#include "testing/agent/test_agent.h"

#include <algorithm>
#include <utility>

namespace perdure::testagent {

using demo::ClientMessage;
using demo::Dialect;
using demo::LooseObject;
using demo::RpcFault;

namespace {

constexpr std::string_view agent_name = "perdure-testagent";
constexpr std::string_view agent_version = "1";

RawJson initialized_v1(const Switches& switches) {
  JsonWriter json;
  json.begin_object().key("protocolVersion").number(1).key("agentCapabilities").begin_object();
  json.key("loadSession").boolean(!switches.load.missing);
  json.key("promptCapabilities").begin_object();
  json.key("image").boolean(true).key("embeddedContext").boolean(true).end_object();
  json.key("sessionCapabilities").begin_object();
  if (!switches.no_list) json.key("list").raw("{}");
  if (!switches.resume.missing) json.key("resume").raw("{}");
  if (!switches.no_close) json.key("close").raw("{}");
  json.end_object().end_object();
  json.key("agentInfo").begin_object().key("name").string(agent_name);
  json.key("version").string(agent_version).end_object();
  json.key("authMethods").begin_array();
  if (!switches.auth_required.empty()) {
    json.begin_object().key("id").string("test-login").key("name").string("Log in").end_object();
  }
  json.end_array().end_object();
  return {std::move(json).take()};
}

RawJson initialized_v2() {
  JsonWriter json;
  json.begin_object().key("protocolVersion").number(2);
  json.key("info").begin_object().key("name").string(agent_name);
  json.key("version").string(agent_version).end_object();
  json.key("capabilities").begin_object().key("session").begin_object();
  json.key("prompt").begin_object().key("image").raw("{}").end_object();
  json.end_object().end_object().key("authMethods").begin_array().end_array().end_object();
  return {std::move(json).take()};
}

RpcFault unknown_method(std::string_view method) {
  return {-32601, "Method not found: " + std::string(method), {}};
}

}  // namespace

TestAgent::TestAgent(TestAgentSetup setup, AgentHome& home)
    : setup_(std::move(setup)),
      switches_(setup_.switches),
      home_(home),
      now_ms_(setup_.now_ms),
      random_state_(setup_.seed) {
  if (!setup_.lock.empty() && !take_lock(setup_.lock)) return;
  if (switches_.exit_at_start) {
    act(WriteStderr{"fatal: cannot start, as told\n"});
    act(ExitProcess{static_cast<int>(*switches_.exit_at_start)});
    return;
  }
  stderr_left_ = switches_.stderr_bytes;
  if (switches_.stdout_noise.banner) {
    act(WriteStdout{"Welcome to the test agent!\n\n  loading {settings} ... done\n"});
  }
  if (switches_.fork_child == ChildKind::child || switches_.fork_child == ChildKind::setsid) {
    act(SpawnChild{switches_.fork_child});
  }
  if (switches_.mcp_server) act(SpawnChild{.serves = true});
}

void TestAgent::feed(std::string_view bytes) {
  if (ended_) return;
  lines_.feed(bytes);
  while (!ended_ && reads_stdin()) {
    const auto line = lines_.next();
    if (!line) break;
    ++lines_read_;
    on_line(*line);
    flush_due_frames();
  }
}

bool TestAgent::reads_stdin() const {
  return switches_.reads_stdin_lines < 0 || lines_read_ < switches_.reads_stdin_lines;
}

void TestAgent::feed_end() {
  if (switches_.exit_on_eof) exit_cleanly();
}

// Like real agents: reports it and continues without the server's tools.
void TestAgent::server_ended() {
  act(WriteStderr{"mcp: the server \"tools\" ended\n"});
  for (const auto& [id, session] : sessions_) {
    update(session, {R"({"sessionUpdate":"notice","severity":"error",)"
                     R"("title":"MCP server \"tools\" ended",)"
                     R"("description":"Its tools are not available any more."})"});
  }
}

void TestAgent::terminate() {
  if (!switches_.ignores_sigterm) exit_cleanly();
}

void TestAgent::exit_cleanly() {
  if (ended_) return;
  for (const auto& [id, session] : sessions_) {
    if (session.kept.prompt_count > 0 || switches_.persist_unprompted) {
      home_.put(id, encode_session(session.kept));
    }
  }
  if (switches_.stdout_noise.no_final_newline && !sessions_.empty()) {
    std::string line =
        demo::update_line(sessions_.begin()->first, demo::title_update("last words"));
    line.pop_back();
    act(WriteStdout{std::move(line)});
  }
  act(ExitProcess{0});
}

void TestAgent::tick(std::int64_t now_ms) {
  now_ms_ = std::max(now_ms_, now_ms);
  flush_due_frames();
  bool moved = true;
  while (moved && !ended_ && !output_is_full()) {
    moved = stderr_left_ > 0;
    if (stderr_left_ > 0) write_stderr_piece();
    for (auto& [id, session] : sessions_) moved = run_turn(session) || moved;
    flush_due_frames();
  }
}

std::optional<std::int64_t> TestAgent::wake_at_ms() const {
  if (ended_) return std::nullopt;
  std::optional<std::int64_t> at;
  const auto no_later_than = [&](std::int64_t ms) { at = std::min(at.value_or(ms), ms); };
  if (stderr_left_ > 0) no_later_than(now_ms_);
  if (!later_.empty()) no_later_than(later_.begin()->first);
  for (const auto& [id, session] : sessions_) {
    if (!session.turn || session.turn->hangs || session.turn->asks_open > 0) continue;
    no_later_than(session.turn->not_before_ms);
  }
  return at;
}

void TestAgent::on_line(std::string_view line) {
  const auto message = demo::parse_client_message(line);
  if (!message) {
    frame(demo::error_line({}, {-32700, "Parse error", {}}));
    return;
  }
  if (message->is_answer()) {
    on_answer(*message);
  } else if (message->is_request()) {
    on_request(*message);
  } else if (message->method == "session/cancel") {
    const LooseObject params(message->params.text);
    if (const auto at = sessions_.find(params.text("sessionId")); at != sessions_.end()) {
      cancel(at->second);
    }
  }
}

void TestAgent::on_request(const ClientMessage& message) {
  const std::string& method = message.method;
  if (method == "initialize") return initialize(message);
  if (method == "authenticate" || method == "auth/login") {
    authenticated_ = true;
    return frame(demo::result_line(message.id, {"{}"}));
  }
  if (method == "session/new") return open_new(message);
  if (method == "session/load" && !switches_.load.missing && dialect_ == Dialect::v1) {
    return reopen(message, Opening::load);
  }
  if (method == "session/resume" && !switches_.resume.missing) {
    return reopen(message, Opening::resume);
  }
  if (method == "session/list" && !switches_.no_list) return list_sessions(message);
  const LooseObject params(message.params.text);
  const auto at = sessions_.find(params.text("sessionId"));
  const bool is_known = method == "session/prompt" || method == "session/set_mode" ||
                        method == "session/set_config_option" ||
                        (method == "session/close" && !switches_.no_close);
  if (!is_known) return frame(demo::error_line(message.id, unknown_method(method)));
  if (at == sessions_.end()) {
    return frame(demo::error_line(message.id, {-32002, "Session not found", message.params}));
  }
  on_session_request(message, at->second);
}

void TestAgent::on_session_request(const ClientMessage& message, Session& session) {
  if (message.method == "session/prompt") return accept_prompt(message, session);
  if (message.method == "session/set_mode") return set_mode(message, session);
  if (message.method == "session/set_config_option") return set_option(message, session);
  const std::string id = session.kept.id;
  if (session.turn) cancel(session);
  sessions_.erase(id);
  home_.unlock(id);
  frame(demo::result_line(message.id, {"{}"}));
}

void TestAgent::initialize(const ClientMessage& message) {
  const LooseObject params(message.params.text);
  const std::int64_t wanted = params.number("protocolVersion");
  std::string line;
  if (switches_.protocol == 2 && wanted < 1) {
    line = demo::error_line(message.id, {-32022, "Unsupported protocol version", {}});
  } else if (switches_.protocol == 2 && wanted >= 2 && params.raw("info").empty()) {
    line = demo::error_line(message.id, {-32602, "Invalid params: info is required", {}});
  } else if (switches_.protocol == 2 && wanted >= 2) {
    dialect_ = Dialect::v2;
    line = demo::result_line(message.id, initialized_v2());
  } else {
    line = demo::result_line(message.id, initialized_v1(switches_));
  }
  frame_later(switches_.slow_start_ms, std::move(line));
}

void TestAgent::list_sessions(const ClientMessage& message) {
  const LooseObject params(message.params.text);
  const std::string cwd = params.text("cwd");
  JsonWriter json;
  json.begin_object().key("sessions").begin_array();
  for (const std::string& id : home_.list()) {
    const auto text = home_.get(id);
    const auto kept = text ? decode_session(*text) : std::nullopt;
    if (!kept || (!cwd.empty() && kept->cwd != cwd)) continue;
    json.begin_object().key("sessionId").string(id).key("cwd").string(kept->cwd);
    if (!kept->title.empty()) json.key("title").string(kept->title);
    json.end_object();
  }
  json.end_array().end_object();
  frame(demo::result_line(message.id, {std::move(json).take()}));
}

void TestAgent::set_option(const ClientMessage& message, Session& session) {
  const LooseObject params(message.params.text);
  const std::string id = params.text("configId");
  const std::string value = params.text("value");
  for (const demo::OptionView& option : session_options(session.kept)) {
    if (option.id != id || !option.has(value)) continue;
    (id == "mode" ? session.kept.mode : session.kept.model) = value;
    save(session);
    JsonWriter json;
    json.begin_object().key("configOptions");
    json.raw(demo::options_array(session_options(session.kept), dialect_).text).end_object();
    frame(demo::result_line(message.id, {std::move(json).take()}));
    return;
  }
  frame(demo::error_line(message.id, {-32602, "Invalid params: no such option or value", {}}));
}

void TestAgent::set_mode(const ClientMessage& message, Session& session) {
  const LooseObject params(message.params.text);
  const std::string mode = params.text("modeId");
  if (dialect_ == Dialect::v2) {
    return frame(demo::error_line(message.id, unknown_method(message.method)));
  }
  if (!session_options(session.kept).front().has(mode)) {
    return frame(demo::error_line(message.id, {-32602, "Invalid params: no such mode", {}}));
  }
  session.kept.mode = mode;
  save(session);
  update(session, demo::mode_update(mode));
  frame(demo::result_line(message.id, {"{}"}));
}

}  // namespace perdure::testagent
