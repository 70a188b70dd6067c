// The routes that change sessions, and /ws, on a real runtime without sockets: a request goes
// straight to the route table. The node is a plain value that the test fills.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/api/fixture_for_test.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/api/routes/session/command_routes.h"
#include "daemon/api/streams/streams.h"
#include "daemon/api/ws/ws.h"
#include "daemon/rules/rules.h"

namespace perdure {

// No `override` below, because the interface grows and this class only holds a value.
class PlainNode : public Node {
 public:
  const NodeState& state() const { return held; }
  void create_task(NodeRequest, std::string, std::string, OnTask) {}
  void change_task(NodeRequest, TaskId, TaskChange, OnTask) {}
  void delete_task(NodeRequest, TaskId, OnDone) {}
  void add_token(NodeRequest, TokenRow, OnDone) {}
  void revoke_token(NodeRequest, std::string, OnDone) {}
  void add_browser(NodeRequest, BrowserRow, OnDone) {}
  void revoke_browser(NodeRequest, std::string, OnDone) {}
  void add_rule(NodeRequest, PermissionRule, OnDone) {}
  void add_typed_rule(NodeRequest, TypedRule rule, OnDone done) {
    held.typed_rules[rule.id] = std::move(rule);
    done({});
  }
  void remove_rule(NodeRequest, std::string, OnDone) {}
  void add_tombstone(NodeRequest, Tombstone, OnDone) {}
  void redact(NodeRequest, std::vector<std::string>, OnDone) {}
  Result<std::string> shown_id(const std::string&) { return fail(Code::not_found, "none"); }
  std::uint64_t watch(std::function<void()> changed) {
    told = std::move(changed);
    return 1;
  }
  void unwatch(std::uint64_t) { told = nullptr; }
  Result<bool> catch_up() { return false; }

  NodeState held;
  std::function<void()> told;
};

// The member at a path of names, such as "session.queue". Empty if it does not exist.
inline std::string at_path(std::string_view json, std::string_view path) {
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    const Result<JsonObject> object = JsonObject::parse(json);
    if (!object) return "";
    json = object->find(name);
  }
  if (json.starts_with('"')) return *json_string(json);
  return std::string(json);
}

struct Asked {
  std::shared_ptr<NotedExchange> exchange;

  int status() const { return exchange->status(); }
  std::string at(std::string_view path) const { return at_path(exchange->body(), path); }
  std::string code() const { return at("error.code"); }
  bool is_open() const { return !exchange->response; }
};

// The client end of a WebSocket.
class WsClient {
 public:
  WsClient(Daemon& daemon, std::shared_ptr<NotedSocket> socket)
      : daemon_(daemon), socket(std::move(socket)) {}

  // Sends a request and returns its answer, or an empty text if it has not been answered yet.
  std::string ask(const std::string& action, const std::string& payload,
                  const std::string& key = "") {
    const std::string id = std::to_string(++last_id_);
    socket->events->on_text("{\"id\":" + id + ",\"type\":\"request\",\"action\":\"" + action +
                            "\",\"payload\":" + payload + ",\"key\":\"" + key + "\"}");
    daemon_.run_now();
    for (const std::string& text : socket->sent) {
      if (at_path(text, "id") == id) return text;
    }
    return "";
  }
  // The payloads of the events with that name, in order.
  std::vector<std::string> events(std::string_view action) const {
    std::vector<std::string> out;
    for (const std::string& text : socket->sent) {
      if (at_path(text, "type") == "event" && at_path(text, "action") == action) {
        out.push_back(at_path(text, "payload"));
      }
    }
    return out;
  }

 private:
  Daemon& daemon_;
  int last_id_ = 0;

 public:
  std::shared_ptr<NotedSocket> socket;
};

class ApiBench : public Daemon {
 public:
  ApiBench() {
    agents.add({.profile = {.name = "demo"}, .title = "Demo", .command = {"demo"}});
    agents.add(
        {.profile = {.name = "other"}, .command = {"other"}, .env = {{"API_KEY", "s3cret"}}});
    serve();
  }
  ~ApiBench() { close(); }

  void serve() {
    world = std::make_unique<ApiWorld>(ApiWorld{
        .runtime = *runtime,
        .node = node,
        .sessions = runtime->sessions(),
        .clock = loop,
        .random = loop,
        .loop = loop,
        .files = loop,
        .workspaces = workspaces,
        .agents = agents,
        .make_workspace = [this](SessionId made_for) -> Result<std::string> {
          made_folders += 1;
          return "/workspaces/session_" + made_for.text();
        },
        .keep_environment =
            [this](SessionId of, std::map<std::string, std::string> values, auto done) {
              kept[of] = std::move(values);
              loop.post([done = std::move(done)]() mutable { done({}); });
            },
    });
    commands = std::make_unique<SessionCommands>(*world);
    streams =
        std::make_unique<Streams>(*world, slots, [this](const Principal&) { return !revoked; });
    sockets = std::make_unique<WsServer>(*streams, *commands);
    rules = std::make_unique<RuleAnswerer>(*runtime, node, workspaces);
    router = Router();
    add_session_command_routes(router, *commands);
    add_wait_routes(router, *commands);
    add_rule_routes(router, *world);
    add_agent_routes(router, *world);
    add_ws_route(router, *sockets);
  }
  void close() {
    rules.reset();
    sockets.reset();
    streams.reset();
    commands.reset();
  }
  // Simulates kill -9 and a new daemon that has not found its agentctls yet.
  void kill_daemon() {
    close();
    crash();
    run_now();
    serve();
  }

  Asked ask_route(const std::string& method, const std::string& path, const std::string& body,
                  const std::string& key = "") {
    auto exchange = std::make_shared<NotedExchange>();
    Call call{.exchange = exchange, .principal = principal};
    call.request.method = method;
    call.request.path = path.substr(0, path.find('?'));
    if (const auto mark = path.find('?'); mark != std::string::npos) {
      const std::string pair = path.substr(mark + 1);
      call.request.query.emplace_back(pair.substr(0, pair.find('=')),
                                      pair.substr(pair.find('=') + 1));
    }
    call.request.body = body;
    if (!key.empty()) call.request.headers = {{"Idempotency-Key", key}};
    Router::Match match = router.find(method, call.request.path);
    CHECK(match.route != nullptr, "the test asks for a route that is not there");
    call.arguments = match.arguments;
    match.route->handler(std::move(call));
    run_now();
    return {exchange};
  }
  Asked post(const std::string& path, const std::string& body = "", const std::string& key = "") {
    return ask_route("POST", path, body, key);
  }
  // Posts to a path of the session under test.
  Asked on_session(const std::string& verb, const std::string& body = "",
                   const std::string& key = "") {
    return post("/api/sessions/" + session.text() + "/" + verb, body, key);
  }
  // Creates the session under test.
  Asked make(const std::string& body, const std::string& key = "") {
    Asked made = post("/api/sessions", body, key);
    if (const auto id = SessionId::parse(made.at("session_id"))) session = *id;
    return made;
  }
  // A session that has finished one turn and whose agent is running and idle.
  void make_worked() {
    make(R"({"cwd":"/w","prompt":"first"})");
    agent_comes_up();
    finish_run();
  }
  void finish_run() { frame(FrameRunFinished{state().run->id, "end_turn"}, state().run->id); }
  // The agent and its agentctl die.
  void lose_agentctl() {
    runtime->on_gone(exec(), "pidfd");
    run_now();
  }
  PermissionId asks(const std::string& title = "May I?") {
    const RunId run = state().run ? state().run->id : RunId();
    FramePermission question;
    question.request = "req-" + std::to_string(++questions_);
    question.title = title;
    question.options = {{"allow", "Allow", "allow_once"}, {"reject", "Reject", "reject_once"}};
    frame(question, run);
    const State now = state();
    for (const auto& [id, permission] : now.permissions) {
      if (permission.request == question.request) return id;
    }
    return {};
  }
  WaitTokenId token_of(PermissionId permission) {
    const State now = state();
    for (const auto& [token, wait] : now.waits) {
      if (wait.permission == permission) return token;
    }
    return {};
  }
  WsClient connect() {
    auto exchange = std::make_shared<NotedExchange>();
    Call call{.exchange = exchange, .principal = principal};
    call.request.method = "GET";
    call.request.path = "/ws";
    router.find("GET", "/ws").route->handler(std::move(call));
    return {*this, exchange->socket};
  }

  PlainNode node;
  NotedWorkspaces workspaces;
  AgentCatalog agents;
  std::unique_ptr<ApiWorld> world;
  std::unique_ptr<SessionCommands> commands;
  StreamSlots slots;
  std::unique_ptr<Streams> streams;
  std::unique_ptr<WsServer> sockets;
  std::unique_ptr<RuleAnswerer> rules;
  Router router;
  Principal principal{.id = "uid:1000", .scope = Scope::admin};
  std::map<SessionId, std::map<std::string, std::string>> kept;
  int made_folders = 0;
  bool revoked = false;

 private:
  int questions_ = 0;
};

}  // namespace perdure
