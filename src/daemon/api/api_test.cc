// The API as the server calls it: the order of the checks, the refusal of every route without a
// token, requests during startup; then logins, tokens, tasks and rules from end to end.
#include "daemon/api/api.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/api/fixture_for_test.h"
#include "daemon/api/json/openapi.h"
#include "daemon/api/routes/care_routes.h"
#include "daemon/api/routes/metrics_routes.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/api/routes/peer_routes.h"
#include "daemon/api/routes/read_routes.h"
#include "daemon/api/routes/session/command_routes.h"
#include "daemon/api/routes/session/workspace_routes.h"
#include "daemon/api/streams/stream_slots.h"
#include "daemon/api/ws/ws.h"

namespace perdure {
namespace {

struct Asked {
  std::string method = "GET";
  std::string path;
  std::string body;
  std::vector<HttpHeader> headers;
};

struct Answered {
  int status = 0;
  std::string body;
  std::vector<HttpHeader> headers;
  bool at_head = false;  // refused before the body was read

  std::string code() const {
    const auto object = JsonObject::parse(body);
    const auto error = JsonObject::parse(object ? object->find("error") : "");
    return error ? json_string(error->find("code")).value_or("") : "";
  }
  std::string header(std::string_view name) const {
    const auto at = std::ranges::find(headers, name, &HttpHeader::name);
    return at == headers.end() ? "" : at->value;
  }
  // A member of the object, or of a nested object: "task", "id".
  std::string text(std::string_view member, std::string_view inner = "") const {
    auto object = JsonObject::parse(body);
    if (object && !inner.empty()) {
      object = JsonObject::parse(object->find(member));
      member = inner;
    }
    return object ? json_string(object->find(member)).value_or("") : "";
  }
};

class ApiBench : public ApiDaemon {
 public:
  ApiBench() { make_api(); }
  ~ApiBench() { drop_api(); }

  void make_api() {
    GateConfig config{
        .admin_token = sha256(admin),
        .uid = 1000,
        .find_tcp_origin = [this](const std::shared_ptr<const HttpPeer>&, std::string source,
                                  std::move_only_function<void(Result<CallerOrigin>)> done) {
          looked_for.push_back(std::move(source));
          loop.post([this, done = std::move(done)] mutable {
            if (is_busy) return done(fail(Code::unavailable, "too many callers"));
            done(CallerOrigin{hosted_peer, doubt});
          });
        }};
    config.names.add_listener(*parse_listen_host("127.0.0.1"), 7433, Scheme::http);
    api = std::make_unique<Api>(
        Gate::World{*node, loop, loop}, loop, std::move(config),
        Api::Options{.is_ready = [this] { return served; },
                     .shell = [](const HttpRequest& request) -> std::optional<HttpResponse> {
                       if (request.path != "/") return std::nullopt;
                       return HttpResponse{.status = 200, .body = "page"};
                     }});
    Router& routes = api->router();
    commands = std::make_unique<SessionCommands>(*world);
    const auto still_valid = [this](const Principal& who) { return api->gate().still_valid(who); };
    reads = std::make_unique<ReadRoutes>(*world, api->streams(), still_valid);
    sockets = std::make_unique<WsServer>(reads->streams(), *commands);
    add_session_command_routes(routes, *commands);
    add_wait_routes(routes, *commands);
    add_agent_routes(routes, *world);
    add_care_routes(routes, *world);
    add_metrics_route(routes, *world);
    add_workspace_routes(routes, reads->streams());
    add_ws_route(routes, *sockets);
    reads->add_to(routes);
    add_login_routes(routes, *world, api->gate());
    add_token_routes(routes, *world, api->gate());
    add_task_routes(routes, *world);
    add_rule_routes(routes, *world);
    add_peer_routes(routes, *world);
    add_openapi_route(routes, "0.0-test");
  }
  void drop_api() {
    sockets.reset();
    reads.reset();
    commands.reset();
    api.reset();
  }

  HttpRequest make(Asked what) {
    HttpRequest request{.method = what.method, .target = what.path, .path = what.path};
    request.headers = std::move(what.headers);
    request.headers.push_back({"Host", "127.0.0.1:7433"});
    if (!what.body.empty()) {
      request.headers.push_back({"Content-Type", "application/json"});
      request.headers.push_back({"Content-Length", std::to_string(what.body.size())});
    }
    request.body = std::move(what.body);
    request.peer = peer;
    return request;
  }
  // Like the server: first the head, then the whole request.
  std::shared_ptr<NotedExchange> send(Asked what) {
    auto exchange = std::make_shared<NotedExchange>();
    HttpRequest request = make(std::move(what));
    HttpRequest head = request;
    head.body.clear();
    HttpAdmission admission = api->on_head(head);
    refused_at_head = admission.refuse.has_value();
    if (admission.refuse) {
      exchange->respond(std::move(*admission.refuse));
    } else {
      api->on_request(std::move(request), exchange);
    }
    run_now();
    return exchange;
  }
  Answered ask(Asked what) {
    const auto exchange = send(std::move(what));
    if (!exchange->response) return {};
    return {exchange->response->status, exchange->response->body, exchange->response->headers,
            refused_at_head};
  }
  Answered as_admin(std::string method, std::string path, std::string body = "",
                    std::string key = "") {
    Asked what{std::move(method),
               std::move(path),
               std::move(body),
               {{"Authorization", "Bearer " + admin}}};
    if (!key.empty()) what.headers.push_back({"Idempotency-Key", key});
    return ask(std::move(what));
  }

  std::string admin = make_secret(SecretKind::token, {1, 2, 3, 4});
  SessionId hosted_peer;
  std::string doubt;
  std::vector<std::string> looked_for;  // sources of the looks for a caller's place
  bool is_busy = false;                 // there is no room for such a look
  bool served = true;
  bool refused_at_head = false;
  std::shared_ptr<const HttpPeer> peer = std::make_shared<const HttpPeer>(
      HttpPeer{.address = "127.0.0.1", .port = 40000, .local_port = 7433});
  std::unique_ptr<SessionCommands> commands;
  std::unique_ptr<WsServer> sockets;
  std::unique_ptr<ReadRoutes> reads;
  std::unique_ptr<Api> api;
};

// A path that matches the pattern.
std::string example_of(std::string pattern) {
  for (std::size_t at = pattern.find('{'); at != std::string::npos; at = pattern.find('{')) {
    pattern.replace(at, pattern.find('}') - at + 1, "x");
  }
  return pattern;
}

TEST(RouteTable, CVE_2026_22812_every_route_but_health_and_login_refuses_without_a_token) {
  ApiBench bench;
  const std::set<std::string> open{"GET /healthz", "GET /readyz", "POST /api/login"};
  std::size_t guarded = 0;
  for (const auto& route : bench.api->router().routes()) {
    const std::string name = route->method + " " + route->pattern;
    // Messages between daemons are signed and refused by their head if unsigned.
    EXPECT_EQ(route->access == Access::open && !route->check_head, open.contains(name)) << name;
    bench.loop.time_ms += 60'000;  // earlier failures are forgotten
    const Answered answer = bench.ask({route->method, example_of(route->pattern)});
    if (open.contains(name)) continue;
    EXPECT_EQ(answer.status, 401) << name;
    EXPECT_EQ(answer.code(), "unauthenticated") << name;
    EXPECT_TRUE(answer.at_head) << name;
    ++guarded;
  }
  EXPECT_GT(guarded, 40U);
}

TEST(RouteTable, what_changes_something_is_not_for_those_who_may_only_look) {
  ApiBench bench;
  for (const auto& route : bench.api->router().routes()) {
    const std::string name = route->method + " " + route->pattern;
    if (route->method == "GET" || route->access == Access::open || name == "POST /api/ticket") {
      continue;
    }
    EXPECT_NE(route->access, Access::observe) << name;
  }
}

TEST(RouteTable, TOK3_no_answer_and_no_token_from_inside_of_a_session) {
  ApiBench bench;
  bench.hosted_peer = SessionId(Ulid{5, 5});
  for (const auto& [method, path] :
       std::vector<std::pair<std::string, std::string>>{{"POST", "/api/tokens"},
                                                        {"GET", "/api/tokens"},
                                                        {"POST", "/api/launch"},
                                                        {"POST", "/api/rules"},
                                                        {"POST", "/api/permissions/perm_x"},
                                                        {"POST", "/api/waits/wt_x"},
                                                        {"GET", "/api/waits/wt_x/secret"}}) {
    const Answered answer = bench.as_admin(method, path, method == "POST" ? "{}" : "");
    EXPECT_EQ(answer.status, 403) << path;
  }
  const std::string launch = bench.api->gate().make_launch_token({.id = "uid:1000"});
  const Asked login{"POST", "/api/login", R"({"token":")" + launch + "\"}"};
  EXPECT_EQ(bench.ask(login).status, 403);
  ApiBench outside;
  const std::string theirs = outside.api->gate().make_launch_token({.id = "uid:1000"});
  EXPECT_EQ(outside.ask({"POST", "/api/login", R"({"token":")" + theirs + "\"}"}).status, 200);
}

// Whatever a route is called: what is no plain read is refused to a caller whose place is unknown.
TEST(RouteTable, TOK3_every_route_but_plain_reads_judges_the_place_of_a_caller_over_tcp) {
  ApiBench bench;
  bench.hosted_peer = unknown_session();
  bench.doubt = "no process was found that holds its connection";
  std::size_t judged = 0;
  for (const auto& route : bench.api->router().routes()) {
    const std::string name = route->method + " " + route->pattern;
    const bool is_read = route->method == "GET" && route->access <= Access::operate;
    if (route->access == Access::open || (is_read && !route->is_socket)) continue;
    bench.peer = std::make_shared<const HttpPeer>(*bench.peer);  // a fresh connection
    Asked what{route->method, example_of(route->pattern), route->method == "GET" ? "" : "{}"};
    what.headers = {{"Authorization", "Bearer " + bench.admin}};
    if (route->is_socket) what.headers.push_back({"Upgrade", "websocket"});
    const Answered refused = bench.ask(what);
    EXPECT_EQ(refused.status, 403) << name << " " << refused.body;
    EXPECT_THAT(refused.body, ::testing::HasSubstr(bench.doubt)) << name;
    ++judged;
  }
  EXPECT_GT(judged, 40U);
  EXPECT_EQ(bench.looked_for, std::vector<std::string>(judged, "token:admin"));
  EXPECT_EQ(bench.as_admin("GET", "/api/tasks").status, 200) << "a read goes by its token";
}

TEST(RouteTable, N16_who_shows_no_credential_costs_no_look_for_its_place) {
  ApiBench bench;
  EXPECT_EQ(bench.ask({"POST", "/api/login", R"({"token":"x"})"}).status, 401);
  const std::string unknown = make_secret(SecretKind::launch, {7, 7, 7, 7});
  EXPECT_EQ(bench.ask({"POST", "/api/login", R"({"token":")" + unknown + "\"}"}).status, 401);
  EXPECT_EQ(bench.ask({"POST", "/api/tasks", "{}"}).status, 401);
  EXPECT_THAT(bench.looked_for, ::testing::IsEmpty());
}

TEST(RouteTable, N16_with_too_many_looks_under_way_a_caller_is_told_to_come_back) {
  ApiBench bench;
  bench.is_busy = true;
  const Answered task = bench.as_admin("POST", "/api/tasks", R"({"title":"t"})");
  EXPECT_EQ(task.status, 503);
  EXPECT_EQ(task.header("Retry-After"), "1");
  const std::string launch = bench.api->gate().make_launch_token({.id = "uid:1000"});
  const Asked login{"POST", "/api/login", R"({"token":")" + launch + "\"}"};
  const Answered busy = bench.ask(login);
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.header("Retry-After"), "1");
  bench.is_busy = false;
  EXPECT_EQ(bench.ask(login).status, 200) << "the launch token was not used up";
  EXPECT_EQ(bench.as_admin("POST", "/api/tasks", R"({"title":"t"})").status, 201);
}

TEST(Api, the_host_is_checked_before_anything_else) {
  ApiBench bench;
  for (const char* path : {"/", "/healthz", "/api/sessions", "/nothing"}) {
    HttpRequest request =
        bench.make({"GET", path, "", {{"Authorization", "Bearer " + bench.admin}}});
    for (HttpHeader& header : request.headers) {
      if (header.name == "Host") header.value = "localhost.evil.com:7433";
    }
    const HttpAdmission admission = bench.api->on_head(request);
    ASSERT_TRUE(admission.refuse) << path;
    EXPECT_EQ(admission.refuse->status, 421) << path;
  }
}

TEST(Api, N16_another_origin_is_refused_with_the_right_token_too) {
  ApiBench bench;
  for (const char* path : {"/", "/healthz", "/api/sessions"}) {
    EXPECT_EQ(
        bench
            .ask({"GET",
                  path,
                  "",
                  {{"Authorization", "Bearer " + bench.admin}, {"Origin", "http://evil.com"}}})
            .status,
        403)
        << path;
  }
}

TEST(Api, a_change_has_its_form_whoever_asks) {
  ApiBench bench;
  const HttpHeader token{"Authorization", "Bearer " + bench.admin};
  const HttpHeader length{"Content-Length", "13"};
  EXPECT_EQ(
      bench.ask({"POST", "/api/tasks", "", {token, length, {"Content-Type", "text/plain"}}}).status,
      400);
  const HttpHeader origin{"Origin", "http://127.0.0.1:7433"};
  const Answered page = bench.ask({"POST", "/api/tasks", R"({"title":"t"})", {token, origin}});
  EXPECT_EQ(page.status, 403);
  EXPECT_TRUE(page.at_head);
  EXPECT_EQ(bench.node->state().head, 0U);
  EXPECT_EQ(bench
                .ask({"POST",
                      "/api/tasks",
                      R"({"title":"t"})",
                      {token, origin, {"X-Perdure-Client", "1"}, {"Idempotency-Key", "k"}}})
                .status,
            201);
}

TEST(Api, every_answer_has_the_safe_headers) {
  ApiBench bench;
  for (const Answered& answer :
       {bench.ask({"GET", "/"}), bench.ask({"GET", "/healthz"}), bench.ask({"GET", "/api/tasks"}),
        bench.as_admin("GET", "/api/tasks"), bench.as_admin("GET", "/api/nothing")}) {
    EXPECT_TRUE(answer.header("Content-Security-Policy").contains("frame-ancestors 'none'"));
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.header("Cross-Origin-Resource-Policy"), "same-origin");
    EXPECT_EQ(answer.header("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(answer.header("Cache-Control"), "no-store");
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "") << "no CORS at all";
  }
}

TEST(Api, the_shell_is_public_and_holds_nothing_of_the_api) {
  ApiBench bench;
  EXPECT_EQ(bench.ask({"GET", "/"}).body, "page");
  EXPECT_EQ(bench.ask({"GET", "/nothing"}).status, 404);
  EXPECT_EQ(bench.ask({"GET", "/api/nothing"}).status, 401);
  EXPECT_EQ(bench.ask({"POST", "/"}).status, 401);
  EXPECT_EQ(bench.as_admin("GET", "/api/nothing").code(), "not_found");
  const Answered wrong = bench.as_admin("PUT", "/api/tasks");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("Allow"), "GET, POST");
}

TEST(Api, requests_wait_for_a_daemon_that_starts_and_health_does_not) {
  ApiBench bench;
  bench.served = false;
  EXPECT_EQ(bench.ask({"GET", "/healthz"}).status, 200);
  EXPECT_EQ(bench.ask({"GET", "/readyz"}).status, 503);
  EXPECT_EQ(bench.ask({"GET", "/api/tasks"}).status, 401) << "strangers need not wait";
  const auto waiting =
      bench.send({"GET", "/api/tasks", "", {{"Authorization", "Bearer " + bench.admin}}});
  bench.settle(1000);
  EXPECT_FALSE(waiting->response);
  bench.served = true;
  bench.settle(100);
  EXPECT_EQ(waiting->status(), 200);
  EXPECT_EQ(bench.ask({"GET", "/readyz"}).status, 200);
}

TEST(Api, requests_that_wait_are_bounded_in_number_and_time) {
  ApiBench bench;
  bench.served = false;
  std::vector<std::shared_ptr<NotedExchange>> waiting;
  for (std::size_t i = 0; i < requests_waiting_max; ++i) {
    waiting.push_back(
        bench.send({"GET", "/api/tasks", "", {{"Authorization", "Bearer " + bench.admin}}}));
  }
  EXPECT_EQ(bench.as_admin("GET", "/api/tasks").status, 503);
  bench.settle(ready_wait_ms - 1000);
  EXPECT_FALSE(waiting.front()->response);
  bench.settle(2000);
  for (const auto& exchange : waiting) EXPECT_EQ(exchange->status(), 503);
}

TEST(Api, the_node_journal_is_no_session) {
  ApiBench bench;
  bench.as_admin("POST", "/api/tasks", R"({"title":"t"})");
  for (const char* rest : {"", "/events", "/status", "/transcript", "/rows"}) {
    const std::string path = "/api/sessions/" + Node::journal_id().text() + rest;
    EXPECT_EQ(bench.as_admin("GET", path).status, 404) << path;
  }
  const std::string prompt = "/api/sessions/" + Node::journal_id().text() + "/prompt";
  EXPECT_EQ(bench.as_admin("POST", prompt, R"({"text":"x"})").status, 404);
  EXPECT_EQ(bench.node->state().head, 1U);
}

TEST(Login, TOK1_a_launch_token_is_traded_once_for_a_cookie_and_a_key) {
  ApiBench bench;
  const Answered launch = bench.as_admin("POST", "/api/launch");
  ASSERT_EQ(launch.status, 200);
  const std::string token = launch.text("token");
  EXPECT_EQ(launch.text("url"), "http://127.0.0.1:7433/#launch=" + token);
  const std::vector<HttpHeader> page{{"Origin", "http://127.0.0.1:7433"},
                                     {"Sec-Fetch-Site", "same-origin"},
                                     {"X-Perdure-Client", "1"},
                                     {"Idempotency-Key", "k1"}};
  const Asked login{"POST", "/api/login", R"({"token":")" + token + "\"}", page};
  const Answered first = bench.ask(login);
  ASSERT_EQ(first.status, 200) << first.body;
  const std::string cookie = first.header("Set-Cookie");
  EXPECT_TRUE(cookie.starts_with("perdure_7433=perdure_cookie_"));
  EXPECT_TRUE(cookie.contains("; HttpOnly; SameSite=Strict"));

  const Answered again = bench.ask(login);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.code(), "secret_already_shown");
  EXPECT_EQ(again.text("id"), first.text("id"));
  Asked other = login;
  other.headers.back().value = "k2";
  EXPECT_EQ(bench.ask(other).status, 401) << "the token was used";

  std::vector<HttpHeader> in = page;
  in.push_back({"Cookie", cookie.substr(0, cookie.find(';'))});
  EXPECT_EQ(bench.ask({"GET", "/api/tasks", "", in}).status, 401) << "the cookie alone is nothing";
  in.push_back({"X-Perdure-Key", first.text("key")});
  EXPECT_EQ(bench.ask({"GET", "/api/tasks", "", in}).status, 200);
  const Answered ticket = bench.ask({"POST", "/api/ticket", "", in});
  EXPECT_EQ(ticket.status, 200);
  EXPECT_TRUE(is_secret(SecretKind::ticket, ticket.text("ticket")));
  EXPECT_EQ(bench.as_admin("DELETE", "/api/tokens/" + first.text("id")).status, 200);
  EXPECT_EQ(bench.ask({"GET", "/api/tasks", "", in}).status, 401) << "logged out";
}

TEST(Login, a_login_that_was_not_stored_leaves_its_token_good) {
  ApiBench bench;
  const std::string token = bench.as_admin("POST", "/api/launch").text("token");
  const Asked login{"POST", "/api/login", R"({"token":")" + token + "\"}"};
  bench.store->inject(CommitFault::disk_full);
  EXPECT_EQ(bench.ask(login).status, 507);
  EXPECT_EQ(bench.ask(login).status, 200);
  EXPECT_EQ(bench.ask(login).status, 401);
}

TEST(Login, a_launch_token_grows_old) {
  ApiBench bench;
  const std::string token = bench.as_admin("POST", "/api/launch").text("token");
  bench.loop.time_ms += launch_token_ms;
  EXPECT_EQ(bench.ask({"POST", "/api/login", R"({"token":")" + token + "\"}"}).status, 401);
}

TEST(Tokens, are_shown_once_used_and_revoked) {
  ApiBench bench;
  const std::string body = R"({"name":"ci","scopes":["observe","operate"],"expires_in_s":60})";
  const Answered made = bench.as_admin("POST", "/api/tokens", body, "k");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string text = made.text("text");
  const std::string id = made.text("token", "id");
  EXPECT_TRUE(is_secret(SecretKind::token, text));
  const Answered repeat = bench.as_admin("POST", "/api/tokens", body, "k");
  EXPECT_EQ(repeat.status, 409);
  EXPECT_EQ(repeat.code(), "secret_already_shown");
  EXPECT_EQ(repeat.text("id"), id);
  EXPECT_FALSE(repeat.body.contains(text));

  const std::vector<HttpHeader> with{{"Authorization", "Bearer " + text}};
  EXPECT_EQ(bench.ask({"GET", "/api/tasks", "", with}).status, 200);
  EXPECT_EQ(bench.ask({"POST", "/api/tasks", R"({"title":"t"})", with}).status, 201);
  EXPECT_EQ(bench.ask({"GET", "/api/tokens", "", with}).status, 403) << "that is for admins";
  const Answered listed = bench.as_admin("GET", "/api/tokens");
  EXPECT_TRUE(listed.body.contains(id));
  EXPECT_FALSE(listed.body.contains(text));
  EXPECT_FALSE(listed.body.contains(sha256(text).hex()));
  EXPECT_EQ(bench.as_admin("DELETE", "/api/tokens/" + id).status, 200);
  EXPECT_EQ(bench.as_admin("DELETE", "/api/tokens/" + id).status, 404);
  EXPECT_EQ(bench.ask({"GET", "/api/tasks", "", with}).status, 401);
}

TEST(Tokens, TOK5_no_secret_is_in_the_store) {
  ApiBench bench;
  const Answered made =
      bench.as_admin("POST", "/api/tokens", R"({"name":"ci","scopes":["admin"]})", "k");
  const std::string launch = bench.as_admin("POST", "/api/launch").text("token");
  const Answered login = bench.ask(
      {"POST", "/api/login", R"({"token":")" + launch + "\"}", {{"Idempotency-Key", "l"}}});
  ASSERT_EQ(login.status, 200);
  std::string kept;
  for (Seq seq = 1; seq <= bench.disk.head(Node::journal_id()); ++seq) {
    kept += *bench.disk.peek(Node::journal_id(), seq);
  }
  kept += (*bench.store->answer("token:admin/k"))->answer;
  ASSERT_TRUE(kept.contains("token.created") && kept.contains("browser.added"));
  for (const std::string& secret : {made.text("text"), launch, login.text("key")}) {
    ASSERT_GT(secret.size(), 64U);
    EXPECT_FALSE(kept.contains(secret.substr(secret.size() - 64)));
  }
}

TEST(Tokens, bad_requests_make_nothing) {
  ApiBench bench;
  for (const char* body : {"", "{}", R"({"name":"x"})", R"({"name":"x","scopes":[]})",
                           R"({"name":"x","scopes":["root"]})", R"({"scopes":["admin"]})",
                           R"({"name":"x","scopes":["admin"],"sessions":["y"]})",
                           R"({"name":"x","scopes":["admin"],"expires":"2020-01-01T00:00:00Z"})",
                           R"({"name":"x","scopes":["admin"],"expires_in_s":99999999999999})",
                           R"({"name":"x","scopes":["admin"],"typo":1})", "[]", "{"}) {
    EXPECT_EQ(bench.as_admin("POST", "/api/tokens", body).status, 400) << body;
  }
  EXPECT_EQ(bench.node->state().head, 0U);
}

TEST(Tasks, K36_C17_L1_a_task_lists_its_sessions_and_derives_its_state) {
  ApiBench bench;
  const Answered made =
      bench.as_admin("POST", "/api/tasks", R"({"title":"fix","description":"all of it"})", "k");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id = made.text("task", "id");
  EXPECT_EQ(made.text("task", "state"), "TODO");
  EXPECT_EQ(
      bench.as_admin("POST", "/api/tasks", R"({"title":"fix","description":"all of it"})", "k")
          .text("task", "id"),
      id);
  IdSource ids(bench.loop.now().wall, 5);
  const SessionId session = ids.next<SessionId>();
  bench.session = session;
  ASSERT_TRUE(bench.Daemon::ask(CreateSession{{.session = session,
                                               .task = *TaskId::parse(id),
                                               .title = "s",
                                               .agent = {.name = "demo"},
                                               .workspace = {.cwd = "/w"}},
                                              std::nullopt,
                                              "c"},
                                "c"));
  const Answered shown = bench.as_admin("GET", "/api/tasks/" + id);
  EXPECT_TRUE(shown.body.contains(session.text()));
  EXPECT_EQ(shown.text("task", "state"), "REVIEW");
  EXPECT_TRUE(bench.as_admin("GET", "/api/tasks").body.contains(session.text()));
  EXPECT_EQ(
      bench.as_admin("PATCH", "/api/tasks/" + id, R"({"title":"fix all"})").text("task", "title"),
      "fix all");
  EXPECT_EQ(bench.as_admin("DELETE", "/api/tasks/" + id, "", "d").status, 200);
  EXPECT_EQ(bench.as_admin("DELETE", "/api/tasks/" + id, "", "d").status, 200) << "a repeat";
  EXPECT_EQ(bench.as_admin("GET", "/api/tasks/" + id).status, 404);
  EXPECT_EQ(bench.as_admin("GET", "/api/tasks/nothing").status, 404);
}

TEST(Tasks, N17_TOK6_who_is_bound_to_a_session_sees_no_other_task) {
  ApiBench bench;
  const std::string id =
      bench.as_admin("POST", "/api/tasks", R"({"title":"t"})").text("task", "id");
  const Answered made = bench.as_admin(
      "POST", "/api/tokens",
      R"({"name":"x","scopes":["operate"],"sessions":[")" + SessionId(Ulid{7, 7}).text() + "\"]}");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::vector<HttpHeader> with{{"Authorization", "Bearer " + made.text("text")}};
  EXPECT_EQ(bench.ask({"GET", "/api/tasks/" + id, "", with}).status, 404);
  EXPECT_FALSE(bench.ask({"GET", "/api/tasks", "", with}).body.contains(id));
  EXPECT_EQ(bench.ask({"PATCH", "/api/tasks/" + id, R"({"title":"u"})", with}).status, 404);
  EXPECT_EQ(bench.ask({"DELETE", "/api/tasks/" + id, "", with}).status, 404);
  EXPECT_EQ(bench.ask({"POST", "/api/tasks", R"({"title":"u"})", with}).status, 403);
}

TEST(Rules, are_added_listed_and_taken_back) {
  ApiBench bench;
  const std::string body = R"({"agent":"demo","title":"Run ls","option_kind":"allow_once"})";
  const Answered made = bench.as_admin("POST", "/api/rules", body, "k");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id = made.text("rule", "id");
  EXPECT_EQ(bench.as_admin("POST", "/api/rules", body, "k").body, made.body);
  EXPECT_EQ(bench.as_admin("POST", "/api/rules", R"({"title":"*"})").status, 400);
  EXPECT_TRUE(bench.as_admin("GET", "/api/rules").body.contains(id));
  EXPECT_EQ(bench.as_admin("DELETE", "/api/rules/" + id).status, 200);
  EXPECT_TRUE(bench.node->state().rules.empty());
}

TEST(StreamCount, a_principal_has_so_many_streams_and_gets_them_back) {
  StreamSlots slots(2);
  const Principal a{.id = "a"};
  auto first = slots.take(a);
  auto second = slots.take(a);
  ASSERT_TRUE(first && second);
  const auto third = slots.take(a);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), Code::limit_reached);
  EXPECT_TRUE(slots.take({.id = "b"})) << "others are not affected";
  first->reset();
  EXPECT_TRUE(slots.take(a));
  EXPECT_EQ(slots.open(), 1U);
}

}  // namespace
}  // namespace perdure
