// Which sessions a process inside one can see and change: by default its own session and those it
// created; others do not exist for it.
#include <algorithm>
#include <array>

#include "inside.h"

namespace perdure {
namespace {

class Reach : public InsideTest {
 protected:
  void begin(const std::string& setting) {
    ASSERT_NO_FATAL_FAILURE(start(setting));
    agent_ = hostile_session();
    victim_ = client().create_session({.more = R"("title":"hidden-title-77")"});
    ASSERT_FALSE(agent_.empty());
    ASSERT_TRUE(client().prompt({.session = victim_, .text = "say hidden-word-88"}).ok());
    ASSERT_TRUE(until([&] { return client().count(victim_, "run.completed") > 0; }));
  }
  std::string make_child() {
    const InsideAnswer made =
        ask_one(agent_, {"POST", "/api/sessions", R"({"agent":"test","title":"child"})"});
    EXPECT_EQ(made.status, 201) << made.body;
    return made.at("session_id");
  }
  // Requests that change a session's files, shells or settings, or delete it.
  static std::vector<InsideRequest> changes_of(const std::string& session) {
    const std::string path = "/api/sessions/" + session;
    return {{"DELETE", path + "?confirm=true"},
            {"DELETE", "/api/v1/ops" + path.substr(4) + "?confirm=true"},
            {"POST", path + "/redact", R"({"seq":2})"},
            {"PATCH", path, R"({"title":"mine"})"},
            {"POST", path + "/options", R"({"mode":"free"})"},
            {"POST", path + "/archive", "{}"},
            {"POST", path + "/unarchive", "{}"},
            {"POST", path + "/resume", R"({"with":"test"})"},
            {"POST", path + "/resume", R"({"declare_dead":true})"},
            {"POST", path + "/fs/write", R"({"path":"x","text":"x"})"},
            {"POST", path + "/fs/mkdir", R"({"path":"x"})"},
            {"POST", path + "/git/commit", R"({"message":"x"})"},
            {"POST", path + "/shells", "{}"},
            {"GET", path + "/shells"},
            {"POST", path + "/shells/input", R"({"shell":"x","text":"x"})"}};
  }
  void expect_hidden(const std::string& body, const std::string& where) const {
    for (const std::string& secret : {victim_, std::string("hidden-title-77"),
                                      std::string("hidden-word-88"), victim_.substr(5)}) {
      EXPECT_EQ(body.find(secret), std::string::npos) << where << "\n" << body;
    }
  }

  std::string agent_;
  std::string victim_;
};

// Every route that the daemon lists, for a session that is not the caller's.
TEST_F(Reach, SEC9_for_a_process_inside_a_session_the_others_do_not_exist_on_any_route) {
  ASSERT_NO_FATAL_FAILURE(begin(""));
  const std::string openapi = client().get("/openapi.json").body;
  const Result<JsonObject> document = JsonObject::parse(openapi);
  ASSERT_TRUE(document);
  const JsonObject paths = *JsonObject::parse(document->find("paths"));
  std::vector<InsideRequest> requests;
  for (const auto& [pattern, methods] : paths.members()) {
    const std::size_t id = pattern.find("/sessions/{id}");
    if (id == std::string::npos) continue;
    const JsonObject of_path = *JsonObject::parse(methods);
    for (const auto& [method, described] : of_path.members()) {
      std::string path = pattern;
      path.replace(id + 10, 4, victim_);
      for (std::size_t at = path.find('{'); at != std::string::npos; at = path.find('{')) {
        path.replace(at, path.find('}', at) - at + 1, "x");
      }
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
      if (upper == "DELETE") path += "?confirm=true&force=true";
      requests.push_back({upper, path, upper == "GET" ? "" : "{}"});
    }
  }
  EXPECT_GT(requests.size(), 50u);
  const std::vector<InsideAnswer> answers = ask_inside(agent_, requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string what = requests[i].method + " " + requests[i].path;
    // A WebSocket route may respond first that it needs an upgrade.
    EXPECT_TRUE(answers[i].status == 404 || answers[i].status == 426)
        << what << ": " << answers[i].status << " " << answers[i].body;
    EXPECT_EQ(answers[i].body.find("hidden-title-77"), std::string::npos) << what;
  }
  EXPECT_EQ(client().get("/api/sessions/" + victim_).status, 200);
}

TEST_F(Reach, SEC9_lists_searches_tasks_metrics_and_streams_show_only_its_own) {
  ASSERT_NO_FATAL_FAILURE(begin(""));
  const std::string task =
      client().post("/api/tasks", R"({"title":"hidden-title-77"})").at("task.id");
  ASSERT_FALSE(task.empty());
  ASSERT_TRUE(client()
                  .call({.method = "PATCH",
                         .path = "/api/sessions/" + victim_,
                         .body = R"({"task_id":")" + task + "\"}"})
                  .ok());
  ASSERT_TRUE(client().prompt({.session = victim_, .text = "permission 1"}).ok());
  ASSERT_TRUE(until([&] { return client().count(victim_, "permission.requested") > 0; }));
  const std::vector<InsideRequest> requests = {{"GET", "/api/sessions?archived=all"},
                                               {"GET", "/api/search?q=hidden-word-88"},
                                               {"GET", "/api/inbox"},
                                               {"GET", "/api/executors"},
                                               {"GET", "/api/tasks"},
                                               {"GET", "/metrics"},
                                               {"GET", "/api/sessions/" + agent_ + "/page"}};
  const std::vector<InsideAnswer> answers = ask_inside(agent_, requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    expect_hidden(answers[i].body, requests[i].path);
    EXPECT_EQ(answers[i].body.find(task), std::string::npos) << requests[i].path;
  }
  EXPECT_EQ(json_list(answers[0].body, "sessions").size(), 1u) << answers[0].body;
  EXPECT_NE(answers[5].body.find("perdure_sessions"), std::string::npos) << answers[5].body;
  EXPECT_EQ(answers[5].body.find("perdure_events_total"), std::string::npos) << answers[5].body;
  EXPECT_EQ(ask_one(agent_, {"GET", "/api/tasks/" + task}).status, 404);
  EXPECT_EQ(ask_one(agent_, {"GET", "/api/sessions/hidden-title-77"}).status, 404);
  // Changes of tasks, and sessions in a task that it does not see.
  EXPECT_EQ(ask_one(agent_, {"POST", "/api/tasks", R"({"title":"x"})"}).status, 403);
  EXPECT_EQ(ask_one(agent_, {"DELETE", "/api/tasks/" + task}).status, 404);
  EXPECT_EQ(
      ask_one(agent_, {"POST", "/api/sessions", R"({"agent":"test","task_id":")" + task + "\"}"})
          .status,
      404);
}

TEST_F(Reach, SEC9_it_drives_the_sessions_that_it_made_and_changes_nothing_of_them) {
  ASSERT_NO_FATAL_FAILURE(begin(""));
  const std::string child = make_child();
  ASSERT_FALSE(child.empty());
  const std::string created = client().records(child).front();
  EXPECT_EQ(json_at(created, "parent"), agent_) << created;
  const std::string path = "/api/sessions/" + child;
  const auto answers = ask_inside(agent_, {{"GET", path},
                                           {"GET", "/api/sessions"},
                                           {"POST", path + "/prompt", R"({"text":"say 1"})"},
                                           {"GET", path + "/export"}});
  EXPECT_EQ(answers[0].status, 200) << answers[0].body;
  EXPECT_EQ(json_list(answers[1].body, "sessions").size(), 2u) << answers[1].body;
  EXPECT_EQ(answers[2].status, 200) << answers[2].body;
  EXPECT_EQ(answers[3].status, 200) << answers[3].body;
  ASSERT_TRUE(until([&] { return client().count(child, "run.completed") > 0; }));
  const std::vector<InsideRequest> changes = changes_of(child);
  const auto refused = ask_inside(agent_, changes);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(refused[i].status, 403) << changes[i].path << " " << refused[i].body;
  }
  // A copy of the child is a child as well.
  const InsideAnswer forked = ask_one(agent_, {"POST", path + "/fork", R"({"share_cwd":true})"});
  ASSERT_EQ(forked.status, 201) << forked.body;
  const std::string copy = forked.at("session.id");
  EXPECT_EQ(json_at(client().records(copy).front(), "parent"), agent_);
  EXPECT_EQ(ask_one(agent_, {"GET", "/api/sessions/" + copy}).status, 200);
  // After a restart of the daemon this comes from the journal.
  daemon_->process.kill_daemon();
  ASSERT_TRUE(daemon_->process.start());
  EXPECT_EQ(ask_one(agent_, {"GET", path}).status, 200);
  EXPECT_EQ(ask_one(agent_, {"GET", "/api/sessions/" + victim_}).status, 404);
}

TEST_F(Reach, SEC9_N11_it_leaves_the_prompts_of_a_person_alone) {
  ASSERT_NO_FATAL_FAILURE(begin(""));
  const std::string child = make_child();
  ASSERT_TRUE(client().prompt({.session = child, .text = "hang"}).ok());
  ASSERT_TRUE(until(
      [&] { return client().get("/api/sessions/" + child).at("session.status") == "running"; }));
  const std::string path = "/api/sessions/" + child;
  const auto queue = [&](const ApiReply& reply) { return reply.at("message_id"); };
  const std::string theirs =
      queue(client().post(path + "/prompt", R"({"text":"by a person","when":"queue"})"));
  ASSERT_FALSE(theirs.empty());
  const InsideAnswer own =
      ask_one(agent_, {"POST", path + "/prompt", R"({"text":"by itself","when":"queue"})"});
  ASSERT_EQ(own.status, 200) << own.body;
  const std::string item = path + "/queue/";
  const auto answers =
      ask_inside(agent_, {{"PATCH", item + theirs, R"({"text":"x"})"},
                          {"DELETE", item + theirs},
                          {"PATCH", item + own.at("message_id"), R"({"text":"x"})"},
                          {"DELETE", item + own.at("message_id")}});
  EXPECT_EQ(answers[0].status, 403) << answers[0].body;
  EXPECT_EQ(answers[1].status, 403) << answers[1].body;
  EXPECT_EQ(answers[2].status, 200) << answers[2].body;
  EXPECT_EQ(answers[3].status, 200) << answers[3].body;
  EXPECT_EQ(client().call({.method = "DELETE", .path = item + theirs}).status, 200);
}

TEST_F(Reach, SEC9_of_its_own_session_it_changes_files_and_title_and_deletes_nothing) {
  ASSERT_NO_FATAL_FAILURE(begin(""));
  const std::string path = "/api/sessions/" + agent_;
  const auto answers =
      ask_inside(agent_, {{"POST", path + "/fs/write", R"({"path":"x","text":"x"})"},
                          {"PATCH", path, R"({"title":"mine"})"},
                          {"DELETE", path + "?confirm=true&force=true"},
                          {"POST", path + "/redact", R"({"seq":2})"},
                          {"POST", path + "/options", R"({"mode":"free"})"},
                          {"PATCH", path, R"({"limits":{"processes":100000}})"},
                          {"POST", "/api/sessions", R"({"agent":"test","limits":{}})"},
                          {"POST", "/api/sessions", R"({"agent":"test","remote":"other"})"}});
  EXPECT_EQ(answers[0].status, 200) << answers[0].body;
  EXPECT_EQ(answers[1].status, 200) << answers[1].body;
  for (std::size_t i = 2; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].status, 403) << i << " " << answers[i].body;
  }
  EXPECT_EQ(client().get(path).status, 200);
}

// A process that starts agents takes no slot reserved for people, and its agents do not outlive it
// unnoticed.
TEST_F(Reach, SEC9_H3_what_it_starts_takes_some_places_and_ends_with_its_maker) {
  ASSERT_NO_FATAL_FAILURE(begin(""));
  std::vector<InsideRequest> requests(
      9, {"POST", "/api/sessions", R"({"agent":"test","prompt":"hang"})"});
  std::vector<std::string> children;
  for (const InsideAnswer& made : ask_inside(agent_, requests)) {
    ASSERT_EQ(made.status, 201) << made.body;
    children.push_back(made.at("session_id"));
  }
  const auto count = [&](const std::string& member, const std::string& value) {
    return std::ranges::count_if(children, [&](const std::string& child) {
      return client().get("/api/sessions/" + child).at("session." + member) == value;
    });
  };
  ASSERT_TRUE(until([&] {
    return count("status", "running") == 8 && count("error_code", "limit_reached") == 1;
  }));
  const std::string mine = client().create_session({});
  ASSERT_TRUE(client().prompt({.session = mine, .text = "say 1"}).ok());
  EXPECT_TRUE(until([&] { return client().count(mine, "run.completed") == 1; }));

  const auto names_eight = [&](const std::string& body) {
    const auto is_named = [&](const std::string& child) { return body.contains(child); };
    return body.contains("live_children") && std::ranges::count_if(children, is_named) == 8;
  };
  const std::string path = "/api/sessions/" + agent_;
  const ApiReply preview = client().get(path + "/delete-preview");
  EXPECT_TRUE(names_eight(preview.body)) << preview.body;
  const ApiReply stopped = client().post(path + "/stop");
  EXPECT_TRUE(names_eight(stopped.body)) << stopped.body;
  ASSERT_TRUE(until([&] { return client().get(path).at("session.executor_status") == "stopped"; }));
  const ApiReply kept = client().call({.method = "DELETE", .path = path + "?confirm=true"});
  EXPECT_EQ(kept.status, 409) << kept.body;
  EXPECT_NE(kept.body.find("8 sessions that it made are still running"), std::string::npos);
  EXPECT_EQ(count("status", "running"), 8);
  const ApiReply gone =
      client().call({.method = "DELETE", .path = path + "?confirm=true&force=true"});
  EXPECT_EQ(gone.status, 200) << gone.body;
  EXPECT_TRUE(until([&] { return count("status", "running") == 0; }));
}

TEST_F(Reach, SEC9_H3_the_last_places_are_for_sessions_that_people_made) {
  ASSERT_NO_FATAL_FAILURE(begin("[limits]\nlive_agents = 6"));
  // Its own and the other session are live; 3 slots are for people.
  const std::string first = make_child();
  const std::string second = make_child();
  ASSERT_TRUE(client().prompt({.session = first, .text = "hang"}).ok());
  ASSERT_TRUE(until(
      [&] { return client().get("/api/sessions/" + first).at("session.status") == "running"; }));
  client().prompt({.session = second, .text = "hang"});
  ASSERT_TRUE(until([&] {
    return client().get("/api/sessions/" + second).at("session.error_code") == "limit_reached";
  }));
  const ApiReply shown = client().get("/api/sessions/" + second);
  EXPECT_NE(shown.body.find("live_agents_reserved"), std::string::npos) << shown.body;
  for (int i = 0; i < 3; ++i) {
    const std::string mine = client().create_session({});
    ASSERT_TRUE(client().prompt({.session = mine, .text = "hang"}).ok());
    EXPECT_TRUE(until(
        [&] { return client().get("/api/sessions/" + mine).at("session.status") == "running"; }));
  }
}

TEST_F(Reach, SEC9_with_agents_reach_self_it_sees_not_even_those_that_it_made) {
  ASSERT_NO_FATAL_FAILURE(begin("[sessions]\nagents_reach = 'self'"));
  const std::string child = make_child();
  ASSERT_FALSE(child.empty());
  EXPECT_EQ(ask_one(agent_, {"GET", "/api/sessions/" + child}).status, 404);
  EXPECT_EQ(ask_one(agent_, {"GET", "/api/sessions/" + agent_}).status, 200);
}

TEST_F(Reach, SEC9_with_agents_reach_all_it_sees_the_others_and_still_changes_nothing_of_them) {
  ASSERT_NO_FATAL_FAILURE(begin("[sessions]\nagents_reach = 'all'"));
  const std::string path = "/api/sessions/" + victim_;
  const auto seen =
      ask_inside(agent_, {{"GET", path}, {"POST", path + "/prompt", R"({"text":"say 1"})"}});
  EXPECT_EQ(seen[0].status, 200) << seen[0].body;
  EXPECT_EQ(seen[1].status, 200) << seen[1].body;
  const std::vector<InsideRequest> changes = changes_of(victim_);
  const auto refused = ask_inside(agent_, changes);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(refused[i].status, 403) << changes[i].path << " " << refused[i].body;
  }
}

TEST_F(Reach, SEC9_the_setting_is_read_and_shown) {
  ASSERT_NO_FATAL_FAILURE(start("[sessions]\nagents_reach = 'self'"));
  const ProgramRun shown = run_program({daemon_->process.setup().program, "config", "show"},
                                       daemon_->process.environment());
  EXPECT_NE(shown.output.find("agents_reach = 'self'"), std::string::npos) << shown.output;
}

class BoundShell : public Reach {
 protected:
  // Output of that command in a shell of the agent's session, opened with the token.
  std::string in_shell(const std::string& token, const std::string& command) {
    ApiClient bound = client();
    bound.use_token(token);
    bound.turn_to({.host = "127.0.0.1", .port = daemon_->port});
    opened_ = bound.run_in_shell({agent_, command});
    return opened_.at("text");
  }
  ApiReply opened_;
};

// What runs in a session makes sessions and reaches those; the token is bound to this one alone.
TEST_F(BoundShell, SEC9_TOK6_a_bound_token_gets_no_more_than_its_session_through_a_shell) {
  for (const char* const reach : {"self", "children", "all"}) {
    ASSERT_NO_FATAL_FAILURE(begin("[sessions]\nagents_reach = '" + std::string(reach) + "'"));
    const std::string token = daemon_->make_token(
        R"({"name":"bound","scopes":["operate"],"sessions":[")" + agent_ + R"("]})");
    ASSERT_FALSE(token.empty());
    const std::string make = std::string("/usr/bin/python3 ") + PERDURE_ATTACKS + "/request.py " +
                             daemon_->socket() + R"( POST /api/sessions '{"agent":"test"}')";
    EXPECT_EQ(in_shell(token, make), "") << reach;
    EXPECT_EQ(opened_.status, 403) << reach << " " << opened_.body;
    const std::string path = "/api/sessions/" + agent_;
    for (const auto& [method, rest, body] : std::vector<std::array<std::string, 3>>{
             {"POST", "/shells", "{}"},
             {"POST", "/shells/input", R"({"shell":"x","text":"x"})"},
             {"GET", "/shells", ""},
             {"PATCH", "", R"({"mcp_servers":[{"name":"x","command":"/bin/sh"}]})"}}) {
      const RawAnswer refused =
          daemon_->with_token(token, {.method = method, .target = path + rest, .body = body});
      EXPECT_EQ(refused.status, 403) << reach << " " << method << rest << " " << refused.body;
    }
    const std::string list = client().get("/api/sessions").body;
    EXPECT_EQ(json_list(list, "sessions").size(), 2u) << reach << " " << list;
    // The session itself is the token's.
    const RawAnswer titled =
        daemon_->with_token(token, {.method = "PATCH", .target = path, .body = R"({"title":"t"})"});
    EXPECT_EQ(titled.status, 200) << titled.body;
  }
}

}  // namespace
}  // namespace perdure
