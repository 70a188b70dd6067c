// The route table: which pattern matches a path, and the status of each code.
#include "daemon/api/gate/route.h"

#include <string>

#include <gtest/gtest.h>

namespace perdure {
namespace {

Route route(std::string method, std::string pattern) {
  return {.method = std::move(method), .pattern = std::move(pattern), .handler = [](Call) {}};
}

TEST(Router, the_more_exact_pattern_wins_in_any_order) {
  Router router;
  router.add(route("GET", "/api/sessions/{id}"));
  router.add(route("GET", "/api/sessions/{id}/fs/{path...}"));
  router.add(route("GET", "/api/sessions/recent"));
  router.add(route("GET", "/api/{rest...}"));
  const auto pattern = [&](std::string_view path) {
    const Router::Match match = router.find("GET", path);
    return match.route ? match.route->pattern : std::string();
  };
  EXPECT_EQ(pattern("/api/sessions/recent"), "/api/sessions/recent");
  EXPECT_EQ(pattern("/api/sessions/x"), "/api/sessions/{id}");
  EXPECT_EQ(pattern("/api/sessions/"), "/api/{rest...}");
  EXPECT_EQ(pattern("/api/"), "/api/{rest...}");
  EXPECT_EQ(pattern("/api"), "");
  EXPECT_EQ(pattern(""), "");
  EXPECT_EQ(pattern("api/sessions/x"), "");
  const Router::Match file = router.find("GET", "/api/sessions/x/fs/a/b c");
  EXPECT_EQ(file.arguments, (std::vector<std::string>{"x", "a/b c"}));
  EXPECT_EQ(router.find("GET", "/api/sessions/x/fs/").arguments,
            (std::vector<std::string>{"x", ""}));
}

TEST(Router, a_path_by_another_method_names_those_that_serve) {
  Router router;
  router.add(route("GET", "/a/{id}"));
  router.add(route("DELETE", "/a/{id}"));
  const Router::Match match = router.find("POST", "/a/1");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, (std::vector<std::string>{"GET", "DELETE"}));
  EXPECT_TRUE(router.find("POST", "/b").allowed.empty());
}

TEST(RouterDeathTest, two_routes_cannot_be_the_same) {
  Router router;
  router.add(route("GET", "/a"));
  EXPECT_DEATH(router.add(route("GET", "/a")), "added twice");
}

TEST(Errors, every_code_has_a_status_of_failure) {
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const auto code = static_cast<Code>(i);
    EXPECT_GE(kind_of(code).http_status, 400) << code_name(code);
    const HttpResponse response = error_response(Error(code, "so \"it\" is"));
    EXPECT_EQ(response.status, kind_of(code).http_status);
    const auto body = JsonObject::parse(response.body);
    ASSERT_TRUE(body);
    const auto error = JsonObject::parse(body->find("error"));
    EXPECT_EQ(*json_string(error->find("code")), code_name(code));
    EXPECT_EQ(*json_string(error->find("message")), "so \"it\" is");
    EXPECT_TRUE(json_elements(error->find("actions")));
  }
}

TEST(Errors, actions_are_a_list_of_words) {
  const auto actions = [](Code code) {
    const HttpResponse response = error_response(Error(code, "no"));
    const auto body = JsonObject::parse(response.body);
    return std::string(JsonObject::parse(body->find("error"))->find("actions"));
  };
  EXPECT_EQ(actions(Code::session_archived), R"(["unarchive","fork"])");
  EXPECT_EQ(actions(Code::denied), "[]");
}

TEST(Errors, O20_each_way_a_wait_token_can_be_wrong_has_its_status) {
  EXPECT_EQ(kind_of(Code::token_not_found).http_status, 404);
  EXPECT_EQ(kind_of(Code::token_invalid).http_status, 401);
  EXPECT_EQ(kind_of(Code::token_expired).http_status, 410);
  EXPECT_EQ(kind_of(Code::token_revoked).http_status, 410);
  EXPECT_EQ(kind_of(Code::token_consumed).http_status, 409);
  EXPECT_EQ(kind_of(Code::token_scope_mismatch).http_status, 409);
}

TEST(CallHash, tells_requests_apart) {
  Call call{.request = {.method = "POST", .path = "/a", .body = "x"}};
  const Hash first = call.body_hash();
  EXPECT_EQ(call.body_hash(), first);
  for (const auto& change : std::vector<std::function<void(HttpRequest&)>>{
           [](HttpRequest& r) { r.method = "PUT"; }, [](HttpRequest& r) { r.path = "/ax"; },
           [](HttpRequest& r) { r.body = "y"; }, [](HttpRequest& r) { r.query = {{"x", ""}}; },
           [](HttpRequest& r) {
             r.path = "/";
             r.body = "ax";
           }}) {
    Call other{.request = {.method = "POST", .path = "/a", .body = "x"}};
    change(other.request);
    EXPECT_NE(other.body_hash(), first);
  }
}

TEST(CallKey, belongs_to_its_principal) {
  Call call{.principal = {.id = "uid:1"}};
  EXPECT_EQ(call.key(), "");
  call.request.headers = {{"idempotency-key", "k"}};
  EXPECT_EQ(call.key(), "uid:1/k");
}

TEST(AccessRights, N12_follow_scope_and_place) {
  const SessionId session(Ulid{1, 1});
  const Principal observer{.scope = Scope::observe};
  const Principal operator_{.scope = Scope::operate};
  const Principal admin{.scope = Scope::admin};
  const Principal bound{.scope = Scope::admin, .sessions = {session}};
  const Principal hosted{.scope = Scope::operate, .hosted = session};
  const struct {
    const Principal* who;
    bool observe, operate, answer, admin;
  } rows[] = {{&observer, true, false, false, false},
              {&operator_, true, true, true, false},
              {&admin, true, true, true, true},
              {&bound, true, true, true, false},
              {&hosted, true, true, false, false}};
  for (const auto& row : rows) {
    EXPECT_TRUE(has_access(*row.who, Access::open));
    EXPECT_EQ(has_access(*row.who, Access::observe), row.observe);
    EXPECT_EQ(has_access(*row.who, Access::operate), row.operate);
    EXPECT_EQ(has_access(*row.who, Access::answer), row.answer);
    EXPECT_EQ(has_access(*row.who, Access::admin), row.admin);
  }
}

}  // namespace
}  // namespace perdure
