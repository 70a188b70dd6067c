// The limits of a token with fewer scopes, and how a right ends: scopes come from the stored row, a
// session out of scope does not exist, and a revoked token is rejected at once, its open streams
// within 5 s.

#include "guarded_daemon.h"

namespace perdure {
namespace {

class Scopes : public SecuritySuite {
 protected:
  static RawAnswer post(const std::string& token, const std::string& target,
                        const std::string& body) {
    return daemon().with_token(token, {.method = "POST", .target = target, .body = body});
  }
  // Opens a question in the session; returns its id.
  static std::string ask_something(const std::string& session) {
    ApiClient client = daemon().client();
    client.prompt({.session = session, .text = "permission 1"});
    std::string permission;
    until([&] {
      for (const std::string& record : client.records(session)) {
        if (json_at(record, "kind") == "permission.requested")
          permission = json_at(record, "perm_id");
      }
      return !permission.empty();
    });
    return permission;
  }
};

TEST_F(Scopes, N12_TOK6_an_observer_sees_and_changes_nothing) {
  const std::string observer = daemon().make_token(R"({"name":"eye","scopes":["observe"]})");
  ASSERT_FALSE(observer.empty());
  const std::string session = daemon().client().create_session({});
  const std::string permission = ask_something(session);
  ASSERT_FALSE(permission.empty());
  const std::string path = "/api/sessions/" + session;
  EXPECT_EQ(daemon().with_token(observer, {.target = path}).status, 200);
  const std::size_t before = daemon().client().records(session).size();
  for (const char* verb :
       {"/prompt", "/cancel", "/stop", "/archive", "/resume", "/fork", "/repair", "/options"}) {
    EXPECT_EQ(post(observer, path + verb, R"({"text":"hi"})").status, 403) << verb;
  }
  EXPECT_EQ(
      post(observer, "/api/permissions/" + permission, R"({"option_id":"allow_once"})").status,
      403);
  EXPECT_EQ(post(observer, "/api/sessions", R"({"agent":"test"})").status, 403);
  EXPECT_EQ(post(observer, "/api/tokens", R"({"name":"x","scopes":["admin"]})").status, 403);
  EXPECT_EQ(post(observer, "/api/launch", "{}").status, 403);
  EXPECT_EQ(post(observer, "/api/rules", "{}").status, 403);
  EXPECT_EQ(daemon().with_token(observer, {.target = "/api/tokens"}).status, 403);
  EXPECT_EQ(
      daemon().with_token(observer, {.method = "DELETE", .target = path + "?confirm=true"}).status,
      403);
  EXPECT_EQ(daemon().client().records(session).size(), before);
  EXPECT_EQ(daemon().client().count(session, "permission.resolved"), 0u);
}

TEST_F(Scopes, N16_an_operator_cannot_make_itself_an_admin) {
  const std::string operate = daemon().make_token(R"({"name":"op","scopes":["operate"]})");
  ASSERT_FALSE(operate.empty());
  EXPECT_EQ(post(operate, "/api/tokens", R"({"name":"x","scopes":["admin"]})").status, 403);
  EXPECT_EQ(post(operate, "/api/launch", "{}").status, 403);
  EXPECT_EQ(post(operate, "/api/backup", R"({"path":"/tmp/x"})").status, 403);
  // A client's own statements about its scope have no effect.
  const RawAnswer answer = daemon().with_token(
      operate, {.target = "/api/tokens?scope=admin",
                .headers = {{"X-Scope", "admin"}, {"X-Perdure-Scopes", "admin"}}});
  EXPECT_EQ(answer.status, 403);
}

TEST_F(Scopes, N17_TOK6_a_session_out_of_scope_does_not_exist) {
  ApiClient client = daemon().client();
  const std::string mine = client.create_session({});
  const std::string other = client.create_session({.more = R"("title":"hidden-title-77")"});
  const std::string permission = ask_something(other);
  ASSERT_FALSE(permission.empty());
  const std::string token =
      daemon().make_token(R"({"name":"one","scopes":["operate"],"sessions":[")" + mine + R"("]})");
  ASSERT_FALSE(token.empty());
  const auto get = [&](const std::string& target) {
    return daemon().with_token(token, {.target = target});
  };
  EXPECT_EQ(get("/api/sessions/" + mine).status, 200);
  for (const char* part : {"", "/status", "/events", "/transcript", "/history", "/rows", "/export",
                           "/fs/list?path=.", "/density", "/at?seq=1", "/delete-preview"}) {
    const RawAnswer answer = get("/api/sessions/" + other + part);
    EXPECT_EQ(answer.status, 404) << part << " " << answer.body;
  }
  for (const char* verb :
       {"/prompt", "/cancel", "/stop", "/archive", "/resume", "/fork", "/options"}) {
    EXPECT_EQ(post(token, "/api/sessions/" + other + verb, R"({"text":"hi"})").status, 404) << verb;
  }
  EXPECT_EQ(post(token, "/api/permissions/" + permission, R"({"option_id":"allow_once"})").status,
            404);
  for (const char* list : {"/api/sessions", "/api/inbox", "/api/executors", "/api/search?q=hidden",
                           "/api/search?q=permission"}) {
    const RawAnswer answer = get(list);
    EXPECT_EQ(answer.body.find(other), std::string::npos) << list;
    EXPECT_EQ(answer.body.find("hidden-title-77"), std::string::npos) << list;
  }
  EXPECT_EQ(client.count(other, "permission.resolved"), 0u);
}

TEST_F(Scopes, TOK2_a_revoked_token_is_refused_at_once_and_its_streams_end) {
  const std::string session = daemon().client().create_session({});
  const ApiReply made =
      daemon().client().post("/api/tokens", R"({"name":"short","scopes":["observe","operate"]})");
  const std::string token = made.at("text");
  const std::string id = made.at("token.id");
  ASSERT_FALSE(id.empty()) << made.body;
  std::vector<RawConnection> streams;
  for (const std::string& target :
       {"/api/sessions/" + session + "/events", std::string("/api/stream")}) {
    streams.push_back(daemon().connect());
    streams.back().send(daemon().text_of(
        {.target = target,
         .headers = {{"Authorization", "Bearer " + token}, {"Accept", "text/event-stream"}}}));
    EXPECT_EQ(streams.back().read_answer().status, 200) << target;
  }
  for (const std::string& target : {std::string("/ws"), "/api/sessions/" + session + "/shell"}) {
    streams.push_back(daemon().connect());
    streams.back().send(
        daemon().text_of({.target = target,
                          .headers = {{"Authorization", "Bearer " + token},
                                      {"Connection", "Upgrade"},
                                      {"Upgrade", "websocket"},
                                      {"Sec-WebSocket-Version", "13"},
                                      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}}}));
    EXPECT_EQ(streams.back().read_answer().status, 101) << target;
  }
  const ApiReply revoked =
      daemon().client().call({.method = "DELETE", .path = "/api/tokens/" + id});
  ASSERT_TRUE(revoked.ok()) << revoked.body;
  EXPECT_EQ(daemon().with_token(token, {}).status, 401);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    EXPECT_TRUE(streams[i].until_closed(20'000)) << "stream " << i;
  }
}

TEST_F(Scopes, TOK2_a_revoked_token_stays_revoked_over_a_restart) {
  const ApiReply made =
      daemon().client().post("/api/tokens", R"({"name":"gone","scopes":["admin"]})");
  const std::string token = made.at("text");
  EXPECT_EQ(daemon().with_token(token, {}).status, 200);
  ASSERT_TRUE(daemon()
                  .client()
                  .call({.method = "DELETE", .path = "/api/tokens/" + made.at("token.id")})
                  .ok());
  daemon().process.kill_daemon();
  ASSERT_EQ(daemon().start(), "");
  EXPECT_EQ(daemon().with_token(token, {}).status, 401);
}

}  // namespace
}  // namespace perdure
