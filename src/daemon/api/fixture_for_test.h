// The API without sockets, for tests: requests go straight to the route table, and the bytes of the
// response are kept. The runtime below is the real one on a virtual clock.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/api/gate/route.h"
#include "daemon/api/world.h"
#include "daemon/runtime/fixture_for_test.h"
#include "net/server/server.h"

namespace perdure {

// A stream whose reader takes everything at once, or nothing while it is `stuck`.
class NotedStream final : public HttpStream {
 public:
  explicit NotedStream(HttpStreamEvents& events) : events_(&events) {}

  void write(std::shared_ptr<const std::string> bytes) override {
    if (closed) return;
    written.push_back(bytes);
    text += *bytes;
    if (stuck) unsent += bytes->size();
  }
  std::size_t unsent_bytes() const override { return unsent; }
  void finish() override { finished = true; }

  // The reader starts reading again.
  void drain() {
    stuck = false;
    unsent = 0;
    if (!closed) events_->on_drained();
  }
  // The client disconnects.
  void close() {
    if (std::exchange(closed, true)) return;
    events_->on_closed();
  }

  std::string text;
  std::vector<std::shared_ptr<const std::string>> written;
  std::size_t unsent = 0;
  bool stuck = false;
  bool finished = false;
  bool closed = false;

 private:
  HttpStreamEvents* events_;
};

class NotedSocket final : public WebSocket {
 public:
  explicit NotedSocket(WebSocketEvents& told) : events(&told) {}
  void send_text(std::shared_ptr<const std::string> text) override { sent.push_back(*text); }
  void send_binary(std::shared_ptr<const std::string> bytes) override { sent.push_back(*bytes); }
  std::size_t unsent_bytes() const override { return unsent; }
  void close(std::uint16_t code, std::string_view) override { close_code = code; }

  WebSocketEvents* events;
  std::vector<std::string> sent;
  std::size_t unsent = 0;
  std::uint16_t close_code = 0;
};

class NotedExchange final : public HttpExchange {
 public:
  void respond(HttpResponse answer) override { response = std::move(answer); }
  std::shared_ptr<HttpStream> stream(HttpResponse head, HttpStreamEvents& events) override {
    response = std::move(head);
    streamed = std::make_shared<NotedStream>(events);
    streamed->stuck = starts_stuck;
    return streamed;
  }
  std::shared_ptr<WebSocket> upgrade(const WebSocketLimits&, WebSocketEvents& events) override {
    socket = std::make_shared<NotedSocket>(events);
    return socket;
  }
  bool is_gone() const override { return gone; }

  int status() const { return response ? response->status : 0; }
  const std::string& body() const {
    static const std::string none;
    return response ? response->body : none;
  }
  std::optional<std::string> header(std::string_view name) const {
    if (!response) return std::nullopt;
    const auto at = std::ranges::find(response->headers, name, &HttpHeader::name);
    if (at == response->headers.end()) return std::nullopt;
    return at->value;
  }

  std::optional<HttpResponse> response;
  std::shared_ptr<NotedStream> streamed;
  std::shared_ptr<NotedSocket> socket;
  bool starts_stuck = false;
  bool gone = false;
};

// Records workspace calls; the test answers them.
class NotedWorkspaces final : public Workspaces {
 public:
  struct Asked {
    ExecKey exec;
    std::string method;
    std::string params;
    OnResult done;
  };
  void call(const ExecKey& exec, std::string method, std::string params, OnResult done) override {
    if (method == "spool.cut") {
      ++cuts;
      return done(cut_answer);
    }
    asked.push_back({exec, std::move(method), std::move(params), std::move(done)});
  }
  std::uint64_t watch_shells(const ExecKey&, OnShellNews) override { return ++last_watch; }
  void unwatch_shells(std::uint64_t) override {}

  std::vector<Asked> asked;
  Result<std::string> cut_answer = R"({"cut":true})";
  int cuts = 0;
  std::uint64_t last_watch = 0;
};

// The target includes the query; the other members have defaults.
struct TestRequest {
  std::string method = "GET";
  std::string target;
  std::string body;
  std::vector<HttpHeader> headers;
  bool stuck_reader = false;
};

class ApiDaemon : public Daemon {
 public:
  ApiDaemon() { open_node(); }

  // The node journal is in the same store, so it is reopened after each crash.
  void open_node() {
    Result<std::unique_ptr<Node>> opened = Node::open({loop, loop, loop, *store});
    CHECK(opened.has_value(), "the node journal cannot be read");
    node = std::move(*opened);
    world = std::make_unique<ApiWorld>(ApiWorld{.runtime = *runtime,
                                                .node = *node,
                                                .sessions = runtime->sessions(),
                                                .clock = loop,
                                                .random = loop,
                                                .loop = loop,
                                                .files = loop,
                                                .workspaces = workspaces,
                                                .agents = agents,
                                                .version = "0.0-test",
                                                .workspaces_folder = "/workspaces"});
    router = Router();
  }

  // Routes the request as the gate would after admitting the principal.
  std::shared_ptr<NotedExchange> request(TestRequest what) {
    auto exchange = std::make_shared<NotedExchange>();
    exchange->starts_stuck = what.stuck_reader;
    Call call{.exchange = exchange, .principal = principal};
    HttpRequest& request = call.request;
    request.method = what.method;
    request.target = what.target;
    const std::size_t mark = what.target.find('?');
    request.path = *percent_decode(std::string_view(what.target).substr(0, mark));
    if (mark != std::string::npos) add_query(request, what.target.substr(mark + 1));
    request.headers = std::move(what.headers);
    request.body = std::move(what.body);
    Router::Match match = router.find(request.method, request.path);
    if (!match.route) {
      exchange->respond({.status = match.allowed.empty() ? 404 : 405});
      return exchange;
    }
    call.arguments = std::move(match.arguments);
    match.route->handler(std::move(call));
    run_now();
    return exchange;
  }
  std::shared_ptr<NotedExchange> get(const std::string& target) {
    return request({.target = target});
  }
  std::shared_ptr<NotedExchange> post(const std::string& target, const std::string& body) {
    return request({.method = "POST",
                    .target = target,
                    .body = body,
                    .headers = {{"Content-Type", "application/json"}}});
  }
  // "/api/sessions/<id of the session under test>" plus `rest`.
  std::string at(const std::string& rest = "") { return "/api/sessions/" + session.text() + rest; }

  NotedWorkspaces workspaces;
  AgentCatalog agents;
  std::unique_ptr<Node> node;
  std::unique_ptr<ApiWorld> world;
  Router router;
  Principal principal{.id = "uid:1000", .scope = Scope::admin};

 private:
  static void add_query(HttpRequest& request, std::string_view query) {
    while (!query.empty()) {
      const std::string_view pair = query.substr(0, query.find('&'));
      query.remove_prefix(std::min(query.size(), pair.size() + 1));
      const std::size_t equals = pair.find('=');
      const std::string_view value =
          equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
      request.query.emplace_back(*percent_decode(pair.substr(0, equals)), *percent_decode(value));
    }
  }
};

}  // namespace perdure
