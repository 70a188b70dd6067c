// Every route that changes something leaves an entry in the audit trail, or is named here with the
// reason why it does not. The table comes from the daemon's own /openapi.json, so that a route
// added later is asked about.
#include <algorithm>
#include <map>

#include "guarded_daemon.h"

namespace perdure {
namespace {

// A request to an audited route, and the entry that it leaves.
struct Sample {
  std::string what;
  std::string target;
  std::string body;
};

// Reasons why a route leaves no entry.
constexpr const char* in_journal = "the journal of its session has who did it, record by record";
constexpr const char* in_workspace = "works in a session's workspace, as the agent itself does";
constexpr const char* in_node =
    "a name or a text, which the node's journal keeps with who wrote it";
constexpr const char* changes_nothing = "changes nothing";
constexpr const char* by_answer =
    "noted by question.answer and wait.answer; see AuditTrail.answers_*";
constexpr const char* by_daemon = "noted by daemon.restart; see AuditTrail.a_restart_*";
constexpr const char* by_peer =
    "another daemon of the database, which has noted the request itself";

const std::map<std::string, const char*>& reasons() {
  static const std::map<std::string, const char*> known{
      {"POST /api/sessions", in_journal},
      {"PATCH /api/sessions/{id}", in_journal},
      {"POST /api/sessions/{id}/prompt", in_journal},
      {"POST /api/sessions/{id}/cancel", in_journal},
      {"POST /api/sessions/{id}/stop", in_journal},
      {"POST /api/sessions/{id}/archive", in_journal},
      {"POST /api/sessions/{id}/unarchive", in_journal},
      {"POST /api/sessions/{id}/repair", in_journal},
      {"POST /api/sessions/{id}/options", in_journal},
      {"POST /api/sessions/{id}/resume", in_journal},
      {"POST /api/sessions/{id}/fork", in_journal},
      {"POST /api/sessions/{id}/queue/release", in_journal},
      {"PATCH /api/sessions/{id}/queue/{item}", in_journal},
      {"DELETE /api/sessions/{id}/queue/{item}", in_journal},
      {"POST /api/tasks", in_node},
      {"PATCH /api/tasks/{id}", in_node},
      {"POST /api/permissions/{id}", by_answer},
      {"POST /api/waits/{token_id}", by_answer},
      {"POST /api/restart", by_daemon},
      {"POST /api/rules/test", changes_nothing},
      {"POST /api/verify", changes_nothing},
      {"POST /api/ticket", "opens one socket for whoever asks, with no more rights"},
      {"POST /api/agents/{name}/probe", "starts the agent's own program to measure it"},
  };
  return known;
}

class AuditWalk : public SecuritySuite {
 protected:
  static std::vector<std::string> changing_routes() {
    std::vector<std::string> found;
    const ApiReply reply = daemon().client().get("/openapi.json");
    const Result<JsonObject> document = JsonObject::parse(reply.body);
    const auto paths = JsonObject::parse(document ? document->find("paths") : "");
    if (!paths) return found;
    for (const auto& [path, raw] : paths->members()) {
      const Result<JsonObject> methods = JsonObject::parse(raw);
      if (!methods) continue;
      for (const auto& [method, of_it] : methods->members()) {
        std::string upper(method);
        std::ranges::transform(upper, upper.begin(), [](char c) {
          return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        });
        if (upper != "GET" && upper != "PARAMETERS")
          found.push_back(upper + " " + std::string(path));
      }
    }
    return found;
  }
  static std::string reason_of(const std::string& route) {
    if (route.starts_with("POST /api/peer")) return by_peer;
    const std::string_view of_session = "POST /api/sessions/{id}/";
    if (route.starts_with(of_session)) {
      const std::string_view rest = std::string_view(route).substr(of_session.size());
      for (const std::string_view part : {"fs/", "git/", "shells", "lend", "lent"}) {
        if (rest.starts_with(part)) return in_workspace;
      }
    }
    const auto at = reasons().find(route);
    return at == reasons().end() ? "" : at->second;
  }
  static std::string newest() { return daemon().client().get("/api/audit?limit=1000").body; }
};

TEST_F(AuditWalk, every_route_that_changes_something_is_noted_or_says_why_not) {
  ApiClient client = daemon().client();
  const ApiReply made = client.post("/api/sessions", R"({"agent":"test","title":"one"})");
  ASSERT_TRUE(made.ok()) << made.body;
  const std::string session = made.at("session_id");
  const std::string none = "01k00000000000000000000000";
  const std::map<std::string, Sample> samples{
      {"POST /api/login", {"sign_in.refuse", "/api/login", R"({"token":"wrong"})"}},
      {"POST /api/launch", {"launch.create", "/api/launch", "{}"}},
      {"POST /api/tokens", {"token.create", "/api/tokens", R"({"name":"a","scopes":["observe"]})"}},
      {"DELETE /api/tokens/{id}", {"token.revoke", "/api/tokens/tok_" + none, ""}},
      {"POST /api/rules", {"rule.add", "/api/rules", R"({"effect":"deny","argv":["curl"]})"}},
      {"DELETE /api/rules/{id}", {"rule.remove", "/api/rules/rule_" + none, ""}},
      {"DELETE /api/tasks/{id}", {"task.delete", "/api/tasks/task_" + none, ""}},
      {"POST /api/redact", {"node.redact", "/api/redact", R"({"ids":["task_)" + none + "\"]}"}},
      {"POST /api/sessions/{id}/redact",
       {"session.redact", "/api/sessions/" + session + "/redact", R"({"seq":1})"}},
      {"POST /api/import", {"session.import", "/api/import", "no session"}},
      {"POST /api/backup",
       {"store.backup", "/api/backup", R"({"path":")" + daemon().process.home() + R"(/b"})"}},
      {"POST /api/gc", {"store.gc", "/api/gc", R"({"dry_run":false})"}},
      {"DELETE /api/v1/ops/sessions/{id}",
       {"session.delete", "/api/v1/ops/sessions/" + session + "?confirm=true", ""}},
      {"DELETE /api/sessions/{id}",
       {"session.delete", "/api/sessions/" + session + "?confirm=true&force=true", ""}},
  };
  std::size_t noted = 0;
  for (const std::string& route : changing_routes()) {
    const auto sample = samples.find(route);
    if (sample == samples.end()) {
      EXPECT_NE(reason_of(route), "") << route << " is neither noted nor is there a reason";
      continue;
    }
    EXPECT_EQ(reason_of(route), "") << route;
    const std::string before = json_at(newest(), "head");
    const std::string method = route.substr(0, route.find(' '));
    client.call({.method = method, .path = sample->second.target, .body = sample->second.body});
    // Nothing waits for the entry of a refusal.
    const std::string entry = "\"what\":\"" + sample->second.what + "\"";
    EXPECT_TRUE(until([&] {
      return client.get("/api/audit?after=" + before).body.contains(entry);
    })) << route;
    ++noted;
  }
  EXPECT_EQ(noted, samples.size()) << "a route is gone";
}

}  // namespace
}  // namespace perdure
