// Every route of the running daemon, requested without credentials: the table comes from the
// daemon's own /openapi.json, so that routes added later are covered.
#include <map>
#include <set>

#include "guarded_daemon.h"

namespace perdure {
namespace {

class Routes : public SecuritySuite {
 protected:
  struct Found {
    std::string method;
    std::string target;
  };
  static std::vector<Found> all() {
    std::vector<Found> found;
    const ApiReply reply = daemon().client().get("/openapi.json");
    const Result<JsonObject> document = JsonObject::parse(reply.body);
    if (!document) return found;
    const Result<JsonObject> paths = JsonObject::parse(document->find("paths"));
    if (!paths) return found;
    for (const auto& [path, raw] : paths->members()) {
      std::string target(path);
      for (std::size_t at = 0; (at = target.find('{')) != std::string::npos;) {
        target.replace(at, target.find('}', at) - at + 1, "sess_01k00000000000000000000000");
      }
      const Result<JsonObject> methods = JsonObject::parse(raw);
      if (!methods) continue;
      for (const auto& [method, of_it] : methods->members()) {
        std::string upper(method);
        for (char& c : upper) c = static_cast<char>(std::toupper(c));
        if (upper == "PARAMETERS") continue;
        found.push_back({upper, target});
      }
    }
    return found;
  }
};

bool is_open(const std::string& method, const std::string& target) {
  static const std::set<std::string> open = {"GET /healthz", "GET /readyz", "POST /api/login"};
  return open.contains(method + " " + target);
}

void expect_safe(const RawAnswer& answer, const std::string& what) {
  EXPECT_NE(answer.header("content-security-policy").find("frame-ancestors 'none'"),
            std::string::npos)
      << what;
  EXPECT_NE(answer.header("content-security-policy").find("default-src 'none'"), std::string::npos)
      << what;
  EXPECT_EQ(answer.header("x-content-type-options"), "nosniff") << what;
  EXPECT_EQ(answer.header("cross-origin-resource-policy"), "same-origin") << what;
  EXPECT_EQ(answer.header("referrer-policy"), "no-referrer") << what;
  for (const auto& [name, value] : answer.headers) {
    EXPECT_FALSE(name.starts_with("access-control-")) << what << " " << name;
  }
}

TEST_F(Routes, N16_no_route_answers_a_stranger) {
  const std::vector<Found> routes = all();
  ASSERT_GT(routes.size(), 40u);
  std::size_t closed = 0;
  for (const auto& [method, target] : routes) {
    const std::string what = method + " " + target;
    const RawAnswer answer = daemon().tcp({.method = method,
                                           .target = target,
                                           .headers = {{"Content-Type", "application/json"}},
                                           .body = method == "GET" ? "" : "{}"});
    expect_safe(answer, what);
    if (is_open(method, target)) continue;
    ++closed;
    EXPECT_EQ(answer.status, 401) << what << "\n" << answer.body;
    EXPECT_EQ(json_at(answer.body, "error.code"), "unauthenticated") << what;
  }
  EXPECT_GT(closed, 40u);
}

TEST_F(Routes, N16_a_wrong_or_misplaced_token_is_no_token) {
  const std::string right = daemon().process.admin_token();
  ASSERT_FALSE(right.empty());
  std::string wrong = right;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  const Headers tries[] = {{{"Authorization", "Bearer " + wrong}},
                           {{"Authorization", "Bearer " + right.substr(0, right.size() - 1)}},
                           {{"Authorization", "Bearer " + right + "0"}},
                           {{"Authorization", "Basic " + right}},
                           {{"Authorization", right}},
                           {{"Authorization", "Bearer"}},
                           {{"Authorization", "Bearer "}},
                           {{"Authorization", "Bearer " + right}, {"Authorization", "Bearer x"}},
                           {{"Cookie", "token=" + right}},
                           {{"X-Perdure-Key", right}},
                           {{"X-Forwarded-User", "root"}}};
  for (const Headers& headers : tries) {
    const RawAnswer answer = daemon().tcp({.headers = headers});
    EXPECT_EQ(answer.status, 401) << headers.front().first << ": " << headers.front().second;
  }
  EXPECT_EQ(daemon().tcp({.target = "/api/sessions?token=" + right}).status, 401);
  EXPECT_EQ(daemon().with_token(right, {}).status, 200);
}

TEST_F(Routes, N16_no_answer_has_a_cors_header_not_even_to_a_preflight) {
  for (const std::string& origin : {std::string("https://evil.example"), daemon().origin()}) {
    const RawAnswer answer =
        daemon().tcp({.method = "OPTIONS",
                      .headers = {{"Origin", origin},
                                  {"Access-Control-Request-Method", "POST"},
                                  {"Access-Control-Request-Headers", "x-perdure-client"}}});
    EXPECT_GE(answer.status, 400) << origin;
    expect_safe(answer, "OPTIONS from " + origin);
  }
}

TEST_F(Routes, N16_answers_to_the_owner_have_the_headers_as_well) {
  for (const char* target : {"/api/sessions", "/metrics", "/openapi.json", "/api/none", "/", "/x",
                             "/api/sessions/sess_01k00000000000000000000000"}) {
    expect_safe(daemon().with_token(daemon().process.admin_token(), {.target = target}), target);
  }
  expect_safe(daemon().tcp({.target = "*"}), "a target that is no path");
  expect_safe(daemon().tcp({.host = "evil.example"}), "another Host");
}

TEST_F(Routes, N16_the_static_shell_holds_nothing_of_a_user) {
  const ApiReply made = daemon().client().post("/api/sessions", R"({"agent":"test",
      "title":"canary-title-5f1c"})");
  ASSERT_TRUE(made.ok()) << made.body;
  for (const char* target : {"/", "/index.html", "/s/sess_01k00000000000000000000000"}) {
    const RawAnswer answer = daemon().tcp({.target = target});
    EXPECT_EQ(answer.body.find("canary-title-5f1c"), std::string::npos) << target;
    EXPECT_EQ(answer.body.find(daemon().process.admin_token()), std::string::npos) << target;
    EXPECT_EQ(answer.body.find(made.at("session_id")), std::string::npos) << target;
    EXPECT_FALSE(answer.has("set-cookie")) << target;
  }
}

TEST_F(Routes, N16_paths_cannot_be_dressed_up_as_the_shell) {
  const char* const targets[] = {"//api/sessions",   "/api/./sessions", "/api//sessions",
                                 "/%61pi/sessions",  "/api%2fsessions", "/x/../api/sessions",
                                 "/API/sessions",    "/api/sessions/",  "/.%2e/api/sessions",
                                 "/api/sessions%00", "/api\\sessions",  "/;/api/sessions"};
  for (const char* target : targets) {
    const RawAnswer answer = daemon().tcp({.target = target});
    EXPECT_EQ(answer.body.find("\"sessions\""), std::string::npos) << target;
    EXPECT_NE(json_at(answer.body, "sessions").substr(0, 1), "[") << target;
  }
}

}  // namespace
}  // namespace perdure
