// Calls between daemons: a signed call has the same effect as the client's own, an unsigned one is
// refused, and a call about another daemon's session is forwarded once.
#include "api/peer_routes.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/bench_for_test.h"
#include "api/workspace_routes.h"
#include "base/limits.h"
#include "wire/command.h"
#include "wire/reply.h"

namespace perdure {
namespace {

using testing::HasSubstr;

struct PeerBench : ApiBench {
  PeerBench() {
    world->node_name = "here";
    world->peer_key = "the store's secret";
    world->owner = [this](SessionId) -> Result<std::string> { return owner; };
    world->nodes = []() -> Result<std::vector<ServedNode>> {
      return std::vector<ServedNode>{{.name = "here", .is_self = true},
                                     {.name = "there", .address = "unix:/x/perdure.sock"}};
    };
    world->call_peer = [this](const std::string& node, PeerCall call, ApiWorld::OnPeerAnswer done) {
      sent.push_back({node, std::move(call), std::move(done)});
    };
    add_workspace_routes(router, *streams);
    add_peer_routes(router, *world);
    router.set_elsewhere(
        [this](Route& route, Call& call) { return send_to_owner(*world, route, call); });
    make_worked();
  }

  // The letter as received; the signature covers `signed_body` if that is set.
  Asked post_signed(std::string_view path, const std::string& body,
                    const std::optional<std::string>& signed_body = {}) {
    return post_letter(
        path, body,
        sign_peer_letter(world->peer_key, {.path = std::string(path),
                                           .receiver = "here",
                                           .at = loop.now().wall,
                                           .nonce = "n" + std::to_string(++letters),
                                           .body_hash = sha256(signed_body.value_or(body))}));
  }
  Asked post_letter(std::string_view path, const std::string& body, const std::string& letter) {
    Call call{.exchange = std::make_shared<NotedExchange>()};
    const auto exchange = std::static_pointer_cast<NotedExchange>(call.exchange);
    call.request.method = "POST";
    call.request.path = path;
    call.request.body = body;
    call.request.headers = {{peer_signature_header, letter}};
    router.find("POST", path).route->handler(std::move(call));
    run_now();
    return {exchange};
  }
  PeerSubmit prompt(const std::string& key) const {
    const std::string text = *encode_command(SubmitPrompt{.prompt = {.text = "go on"}, .key = key});
    return {.node = "there",
            .session = session,
            .by = "uid:7",
            .key = key,
            .body_hash = sha256(text),
            .input = {text}};
  }
  PeerCall list_files() const {
    return {.node = "there",
            .method = "GET",
            .target = "/api/sessions/" + session.text() + "/fs/list?path=src%2Fa",
            .session = session,
            .principal = {.id = "uid:7", .scope = "operate"}};
  }
  // A client's request to this daemon.
  Asked ask(const std::string& method, const std::string& rest,
            std::vector<HttpHeader> headers = {}) {
    auto exchange = std::make_shared<NotedExchange>();
    Call call{.exchange = exchange, .principal = principal};
    call.request.method = method;
    call.request.path = "/api/sessions/" + session.text() + rest;
    call.request.target = call.request.path + "?path=a";
    call.request.query = {{"path", "a"}};
    call.request.headers = std::move(headers);
    Router::Match match = router.find(method, call.request.path);
    call.arguments = match.arguments;
    router.serve(*match.route, std::move(call));
    run_now();
    return {exchange};
  }

  struct Sent {
    std::string node;
    PeerCall call;
    ApiWorld::OnPeerAnswer done;
  };
  std::vector<Sent> sent;
  std::string owner;  // empty: this daemon
  int letters = 0;
};

TEST(PeerRoutes, a_call_that_is_sent_again_acts_once_and_one_for_another_node_never) {
  PeerBench bench;
  const std::string body = encode_peer_call(bench.list_files());
  const auto letter_to = [&](std::string receiver) {
    return sign_peer_letter(bench.world->peer_key, {.path = std::string(peer_call_path),
                                                    .receiver = std::move(receiver),
                                                    .at = bench.loop.now().wall,
                                                    .nonce = "once",
                                                    .body_hash = sha256(body)});
  };
  EXPECT_EQ(bench.post_letter(peer_call_path, body, letter_to("there")).code(), "unauthenticated");
  EXPECT_TRUE(bench.workspaces.asked.empty());
  bench.post_letter(peer_call_path, body, letter_to("here"));
  ASSERT_EQ(bench.workspaces.asked.size(), 1U);
  EXPECT_EQ(bench.post_letter(peer_call_path, body, letter_to("here")).code(), "unauthenticated");
  EXPECT_EQ(bench.workspaces.asked.size(), 1U);
}

TEST(PeerRoutes, G2_a_command_from_another_daemon_acts_once_and_answers_the_same) {
  PeerBench bench;
  const std::string body = encode_peer_submit(bench.prompt("uid:7/k"));
  const Asked first = bench.post_signed(peer_submit_path, body);
  EXPECT_EQ(first.status(), 200) << first.exchange->body();
  EXPECT_EQ(first.at("placed"), "started");
  const Seq head = bench.state().head;
  const Asked again = bench.post_signed(peer_submit_path, body);
  EXPECT_EQ(again.exchange->body(), first.exchange->body());
  EXPECT_EQ(bench.state().head, head);
  PeerSubmit other = bench.prompt("uid:7/k");
  other.body_hash = sha256("another body");
  EXPECT_EQ(bench.post_signed(peer_submit_path, encode_peer_submit(other)).code(), "key_reused");
}

TEST(PeerRoutes, what_is_no_command_changes_nothing) {
  PeerBench bench;
  const Seq head = bench.state().head;
  PeerSubmit what = bench.prompt("k");
  what.input.text = R"({"v":1,"kind":"executor.ready"})";
  EXPECT_EQ(bench.post_signed(peer_submit_path, encode_peer_submit(what)).code(), "format_too_new");
  EXPECT_EQ(bench.post_signed(peer_submit_path, "{").code(), "invalid_argument");
  EXPECT_EQ(bench.post_signed(peer_submit_path, encode_peer_submit(bench.prompt(""))).code(),
            "invalid_argument");
  EXPECT_EQ(bench.state().head, head);
}

TEST(PeerRoutes, only_the_stores_key_and_never_a_browser) {
  PeerBench bench;
  const std::string body = encode_peer_submit(bench.prompt("k"));
  EXPECT_EQ(bench.post_signed(peer_submit_path, body, "another body").code(), "unauthenticated");
  const Route& route = *bench.router.find("POST", peer_call_path).route;
  ASSERT_TRUE(route.check_head);
  const auto code = [&](std::vector<HttpHeader> headers) {
    HttpRequest head{.method = "POST", .path = std::string(peer_call_path)};
    head.headers = std::move(headers);
    const Result<> checked = route.check_head(head);
    return checked ? std::string("good") : std::string(code_name(checked.error().code()));
  };
  const auto header = [&](std::string_view key, std::string_view path) {
    return HttpHeader{peer_signature_header, sign_peer_letter(key, {.path = std::string(path),
                                                                    .receiver = "here",
                                                                    .at = bench.loop.now().wall,
                                                                    .nonce = "n",
                                                                    .body_hash = sha256(body)})};
  };
  const HttpHeader good = header(bench.world->peer_key, peer_call_path);
  EXPECT_EQ(code({good}), "good");
  EXPECT_EQ(code({}), "unauthenticated");
  EXPECT_EQ(code({good, good}), "unauthenticated");
  EXPECT_EQ(code({header("guessed", peer_call_path)}), "unauthenticated");
  EXPECT_EQ(code({header(bench.world->peer_key, peer_submit_path)}), "unauthenticated");
  for (const char* const name : {"Origin", "Cookie", "Sec-Fetch-Site"}) {
    EXPECT_EQ(code({good, {name, "x"}}), "denied") << name;
  }
  bench.loop.time_ms += peer_clock_ms + 1;
  EXPECT_EQ(code({good}), "unauthenticated");
}

TEST(PeerRoutes, a_clients_request_is_served_for_its_principal) {
  PeerBench bench;
  const Asked asked = bench.post_signed(peer_call_path, encode_peer_call(bench.list_files()));
  ASSERT_EQ(bench.workspaces.asked.size(), 1U) << asked.exchange->body();
  EXPECT_EQ(bench.workspaces.asked[0].method, "fs.list");
  EXPECT_EQ(bench.workspaces.asked[0].params, R"({"path":"src/a"})");
  bench.workspaces.asked[0].done(R"({"entries":[]})");
  EXPECT_EQ(asked.status(), 200);
  EXPECT_EQ(asked.exchange->body(), R"({"entries":[]})");
  EXPECT_EQ(asked.exchange->header(peer_answer_header), "here");
}

TEST(PeerRoutes, N17_a_request_has_no_more_rights_than_its_principal) {
  PeerBench bench;
  const auto code = [&](PeerCall call) {
    return bench.post_signed(peer_call_path, encode_peer_call(call)).code();
  };
  PeerCall call = bench.list_files();
  call.principal.sessions = {SessionId(Ulid{1, 1})};
  EXPECT_EQ(code(call), "denied");
  call = bench.list_files();
  call.principal.scope = "everything";
  EXPECT_EQ(code(call), "invalid_argument");
  call = bench.list_files();
  call.method = "POST";
  call.target = "/api/sessions/" + bench.session.text() + "/fs/mkdir";
  call.principal.scope = "observe";
  EXPECT_EQ(code(call), "denied");
  call = bench.list_files();
  call.target = "/api/sessions/" + bench.session.text() + "/prompt";
  call.method = "POST";
  EXPECT_EQ(code(call), "invalid_argument") << "the runtime sends commands, not this";
  EXPECT_TRUE(bench.workspaces.asked.empty());
}

// The key of the store is no reason to trust the bytes: each gets an answer or is under way.
TEST(PeerRoutes, whatever_another_daemon_signs_is_answered_on_every_route) {
  PeerBench bench;
  const std::string deep = std::string(60, '[') + std::string(60, ']');
  const std::vector<std::string> bodies = {
      "",
      "{}",
      "{",
      "null",
      "[1]",
      std::string(99, '\0'),
      R"({"text":"\xff"})",
      R"({"v":99})",
      R"({"text":"a","text":"b"})",
      R"({"path":7,"shell":1e999,"cwd":null})",
      R"({"content":[{"type":"text","text":"x"},)" + deep + "]}",
      R"({"mcp_servers":[{"x":)" + deep + "}]}",
      deep};
  std::size_t calls = 0;
  const auto send = [&](std::string_view path, const std::string& body) {
    const Asked asked = bench.post_signed(path, body);
    ++calls;
    if (!asked.exchange->response) return;
    EXPECT_NE(asked.status(), 500) << path << " " << body;
  };
  for (const std::string& body : bodies) {
    send(peer_call_path, body);
    send(peer_submit_path, body);
    PeerSubmit submit = bench.prompt("k" + std::to_string(calls));
    submit.input.text = json_validate(body) ? body : "{}";
    send(peer_submit_path, encode_peer_submit(submit));
  }
  for (const auto& route : bench.router.routes()) {
    std::string target = route->pattern;
    for (std::size_t at = target.find('{'); at != std::string::npos; at = target.find('{')) {
      target.replace(at, target.find('}') - at + 1, bench.session.text());
    }
    for (const std::string& body : bodies) {
      for (const SessionId hosted : {SessionId(), bench.session, SessionId(Ulid{9, 9})}) {
        send(peer_call_path,
             encode_peer_call({.node = "there",
                               .method = route->method,
                               .target = target,
                               .session = bench.session,
                               .body = body,
                               .principal = {.id = "uid:7", .scope = "admin", .hosted = hosted}}));
      }
    }
  }
  EXPECT_GT(calls, 1000U);
}

TEST(PeerRoutes, a_prompt_of_another_daemon_that_nests_too_deep_is_refused) {
  PeerBench bench;
  PeerSubmit submit = bench.prompt("deep");
  SubmitPrompt prompt{.prompt = {.text = "x"}, .key = "deep"};
  prompt.prompt.blocks.text = std::string(56, '[') + std::string(56, ']');
  submit.input.text = *encode_command(prompt);
  const Seq head = bench.state().head;
  EXPECT_EQ(bench.post_signed(peer_submit_path, encode_peer_submit(submit)).code(),
            "invalid_argument");
  EXPECT_EQ(bench.state().head, head);
}

TEST(PeerRoutes, a_request_is_never_sent_on_a_second_time) {
  PeerBench bench;
  bench.owner = "third";
  const Asked asked = bench.post_signed(peer_call_path, encode_peer_call(bench.list_files()));
  EXPECT_EQ(asked.code(), "stale_owner");
  EXPECT_TRUE(bench.sent.empty());
  EXPECT_FALSE(asked.exchange->header(peer_answer_header));
}

TEST(PeerRoutes, a_request_about_another_daemons_session_goes_there) {
  PeerBench bench;
  bench.owner = "there";
  const Asked asked = bench.ask("POST", "/fs/mkdir",
                                {{"Idempotency-Key", "k"}, {"Content-Type", "application/json"}});
  ASSERT_EQ(bench.sent.size(), 1U);
  EXPECT_EQ(bench.sent[0].node, "there");
  EXPECT_EQ(bench.sent[0].call.target,
            "/api/sessions/" + bench.session.text() + "/fs/mkdir?path=a");
  EXPECT_EQ(bench.sent[0].call.idempotency_key, "k");
  EXPECT_EQ(bench.sent[0].call.principal.id, "uid:1000");
  EXPECT_EQ(bench.sent[0].call.principal.scope, "admin");
  EXPECT_TRUE(asked.is_open());
  bench.sent[0].done(HttpResponse{.status = 404, .body = "{}"});
  EXPECT_EQ(asked.status(), 404);
  EXPECT_TRUE(bench.workspaces.asked.empty());
}

TEST(PeerRoutes, an_owner_that_is_none_any_more_is_looked_up_once) {
  PeerBench bench;
  bench.owner = "there";
  const Asked first = bench.ask("GET", "/fs/list");
  bench.owner = "third";
  bench.sent[0].done(fail(Code::stale_owner, "not mine"));
  ASSERT_EQ(bench.sent.size(), 2U);
  EXPECT_EQ(bench.sent[1].node, "third");
  bench.sent[1].done(fail(Code::stale_owner, "not mine"));
  EXPECT_EQ(first.code(), "stale_owner");
  bench.owner = "there";
  const Asked second = bench.ask("GET", "/fs/list");
  bench.owner = "";
  bench.sent[2].done(fail(Code::stale_owner, "not mine"));
  EXPECT_EQ(bench.workspaces.asked.size(), 1U) << "it is ours by now";
  EXPECT_TRUE(second.is_open());
  bench.owner = "there";
  const Asked third = bench.ask("GET", "/fs/list");
  bench.sent[3].done(fail(Code::unavailable, "node there cannot be reached"));
  EXPECT_EQ(third.code(), "unavailable");
  EXPECT_EQ(bench.sent.size(), 4U);
}

TEST(PeerRoutes, a_socket_is_told_where_the_session_is) {
  PeerBench bench;
  bench.owner = "there";
  const Asked asked = bench.ask("GET", "/shell", {{"Upgrade", "websocket"}});
  EXPECT_EQ(asked.code(), "misdirected");
  EXPECT_THAT(asked.at("error.message"), HasSubstr("there at unix:/x/perdure.sock"));
  EXPECT_TRUE(bench.sent.empty());
}

TEST(PeerRoutes, sessions_and_daemons_are_shown) {
  PeerBench bench;
  EXPECT_EQ(bench.on_session("queue/release").at("session.node"), "null");
  bench.owner = "there";
  EXPECT_EQ(bench.on_session("queue/release").at("session.node"), "there");
  const Asked nodes = bench.ask_route("GET", "/api/nodes", "");
  EXPECT_EQ(nodes.exchange->body(),
            R"({"nodes":[{"name":"here","address":"","home":"","heard_ms":0,"self":true,)"
            R"("silent":false},{"name":"there","address":"unix:/x/perdure.sock","home":"",)"
            R"("heard_ms":0,"self":false,"silent":false}]})");
}

}  // namespace
}  // namespace perdure
