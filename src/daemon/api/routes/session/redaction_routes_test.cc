// What a redaction answers is true: it names each place that still holds the text, and what it
// names can be redacted, too.
#include <gtest/gtest.h>

#include "core/wire/journal/node_record.h"
#include "core/wire/journal/record.h"
#include "daemon/api/fixture_for_test.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/api/routes/read_routes.h"

namespace perdure {
namespace {

class RedactDaemon : public ApiDaemon {
 public:
  RedactDaemon() { add_routes(); }
  ~RedactDaemon() { reads.reset(); }
  void add_routes() {
    reads = std::make_unique<ReadRoutes>(*world, slots, [](const Principal&) { return true; });
    reads->add_to(router);
    add_task_routes(router, *world);
    add_rule_routes(router, *world);
  }
  void restart() {
    reads.reset();
    crash();
    open_node();
    add_routes();
    settle();
  }

  std::vector<std::string> stored(SessionId of) {
    return store->read(of, {.after = 0, .limit = 1000})->records;
  }
  // The numbers of the session's records of this kind, with commas between.
  std::string seqs_of(std::string_view kind) {
    std::string seqs;
    const std::vector<std::string> records = stored(session);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool is_it = records[i].contains("\"kind\":\"" + std::string(kind) + "\"");
      if (is_it) seqs += (seqs.empty() ? "" : ",") + std::to_string(i + 1);
    }
    return seqs;
  }
  std::string redact(const std::string& seqs) {
    const auto done = post(at("/redact"), R"({"seqs":[)" + seqs + "]}");
    EXPECT_EQ(done->status(), 200) << done->body();
    return done->body();
  }
  std::shared_ptr<NotedExchange> redact_ids(const std::string& ids) {
    return post("/api/redact", R"({"ids":[)" + ids + "]}");
  }
  // The id in an answer to something that was made.
  std::string made(const std::shared_ptr<NotedExchange>& answer, std::string_view prefix) {
    const std::string& body = answer->body();
    const std::size_t begin = body.find(prefix);
    EXPECT_NE(begin, std::string::npos) << body;
    return body.substr(begin, body.find('"', begin) - begin);
  }
  bool node_holds(const std::string& text) {
    const auto has = [&](const std::string& bytes) { return bytes.contains(text); };
    return std::ranges::any_of(stored(Node::journal_id()), has);
  }

  StreamSlots slots;
  std::unique_ptr<ReadRoutes> reads;
};

TEST(RedactionRoutes, X21_a_task_with_the_text_is_named_and_can_be_redacted) {
  RedactDaemon daemon;
  ASSERT_TRUE(daemon.create("log in with hunter2").has_value());
  daemon.agent_comes_up();
  const std::string task = daemon.made(
      daemon.post("/api/tasks", R"({"title":"ops","description":"log in with hunter2 now"})"),
      "task_");
  const std::string said = daemon.redact(daemon.seqs_of("message.user"));
  EXPECT_TRUE(said.contains("task " + task)) << said;
  EXPECT_TRUE(said.contains("perdure redact " + task)) << said;

  const auto done = daemon.redact_ids('"' + task + '"');
  ASSERT_EQ(done->status(), 200) << done->body();
  EXPECT_TRUE(done->body().contains(R"("left":[])")) << done->body();
  EXPECT_FALSE(daemon.node_holds("hunter2"));
  EXPECT_TRUE(daemon.get("/api/tasks/" + task)->body().contains("[redacted]"));
  NodeChain chain;
  for (const std::string& bytes : daemon.stored(Node::journal_id())) {
    ASSERT_TRUE(chain.add(bytes));
  }
  const NodeState before = daemon.node->state();
  daemon.restart();
  EXPECT_EQ(daemon.node->state(), before);
  EXPECT_TRUE(daemon.get("/api/tasks/" + task)->body().contains("[redacted]"));
  EXPECT_EQ(daemon.redact_ids('"' + task + '"')->status(), 200) << "again";
}

TEST(RedactionRoutes, X21_earlier_titles_of_a_task_and_deleted_ones_are_redacted_too) {
  RedactDaemon daemon;
  const std::string task =
      daemon.made(daemon.post("/api/tasks", R"({"title":"hunter2 is it"})"), "task_");
  daemon.request({.method = "PATCH", .target = "/api/tasks/" + task, .body = R"({"title":"b"})"});
  daemon.request({.method = "DELETE", .target = "/api/tasks/" + task});
  ASSERT_TRUE(daemon.node_holds("hunter2"));
  EXPECT_EQ(daemon.redact_ids('"' + task + '"')->status(), 200);
  EXPECT_FALSE(daemon.node_holds("hunter2"));
  daemon.restart();
  EXPECT_TRUE(daemon.node->state().tasks.empty());
}

TEST(RedactionRoutes, X21_a_rule_is_removed_before_it_is_redacted) {
  RedactDaemon daemon;
  ASSERT_TRUE(daemon.create("psql -W hunter2 -l").has_value());
  daemon.agent_comes_up();
  const std::string exact = daemon.made(
      daemon.post("/api/rules", R"({"title":"psql -W hunter2 -l","option_kind":"allow_once"})"),
      "rule_");
  const std::string typed = daemon.made(
      daemon.post("/api/rules", R"({"effect":"deny","argv":["psql","-W","hunter2"]})"), "rule_");
  const std::string said = daemon.redact(daemon.seqs_of("message.user"));
  EXPECT_TRUE(said.contains("permission rule " + exact)) << said;
  EXPECT_TRUE(said.contains("perdure rules rm " + exact)) << said;
  for (const std::string& rule : {exact, typed}) {
    const auto refused = daemon.redact_ids('"' + rule + '"');
    EXPECT_EQ(refused->status(), 409) << refused->body();
    EXPECT_TRUE(refused->body().contains("perdure rules rm")) << refused->body();
    daemon.request({.method = "DELETE", .target = "/api/rules/" + rule});
    EXPECT_EQ(daemon.redact_ids('"' + rule + '"')->status(), 200);
  }
  EXPECT_FALSE(daemon.node_holds("hunter2"));
  daemon.restart();
  EXPECT_TRUE(daemon.node->state().rules.empty());
  EXPECT_TRUE(daemon.node->state().typed_rules.empty());
}

TEST(RedactionRoutes, X21_ids_that_are_not_there_change_nothing) {
  RedactDaemon daemon;
  const std::string task =
      daemon.made(daemon.post("/api/tasks", R"({"title":"hunter2"})"), "task_");
  const Seq head = daemon.node->state().head;
  for (const char* const body : {"{}", R"({"ids":[]})", R"({"ids":"x"})", R"({"ids":[1]})"}) {
    EXPECT_EQ(daemon.post("/api/redact", body)->status(), 400) << body;
  }
  EXPECT_EQ(daemon.redact_ids('"' + task + R"(","task_0000000000000000000000000a")")->status(),
            404);
  EXPECT_TRUE(daemon.node_holds("hunter2"));
  EXPECT_EQ(daemon.node->state().head, head);
}

TEST(RedactionRoutes, X21_a_caller_who_sees_some_sessions_is_told_of_no_task) {
  RedactDaemon daemon;
  ASSERT_TRUE(daemon.create("log in with hunter2").has_value());
  daemon.agent_comes_up();
  const std::string task =
      daemon.made(daemon.post("/api/tasks", R"({"title":"log in with hunter2"})"), "task_");
  daemon.principal.scope = Scope::operate;
  daemon.principal.sessions = {daemon.session};
  const std::string said = daemon.redact(daemon.seqs_of("message.user"));
  EXPECT_FALSE(said.contains(task)) << said;
  EXPECT_TRUE(said.contains("perhaps a task")) << said;
}

TEST(RedactionRoutes, X21_a_short_text_is_looked_for_as_well) {
  RedactDaemon daemon;
  ASSERT_TRUE(daemon.create("hunter2").has_value());
  daemon.agent_comes_up();
  const RunId run = daemon.state().run->id;
  daemon.frame(MessageAgent{.text = "You said hunter2."}, run);
  const std::string said = daemon.redact(daemon.seqs_of("message.user"));
  EXPECT_TRUE(said.contains("(message.agent)")) << said;
  EXPECT_TRUE(said.contains("(queue.added)")) << said;
}

TEST(RedactionRoutes, X21_a_text_in_pieces_is_looked_for_as_one) {
  RedactDaemon daemon;
  ASSERT_TRUE(daemon.create("hunter2correcthorse").has_value());
  daemon.agent_comes_up();
  const RunId run = daemon.state().run->id;
  daemon.frame(MessageAgent{.text = "It is hunter"}, run);
  daemon.frame(MessageAgent{.text = "2correct"}, run);
  daemon.frame(MessageAgent{.text = "horse."}, run);
  daemon.frame(FrameRunFinished{run, "end_turn"}, run);
  const std::string said = daemon.redact(daemon.seqs_of("message.user"));
  for (const Record& record : daemon.records()) {
    if (!holds_alternative<MessageAgent>(record.event.body)) continue;
    EXPECT_TRUE(said.contains("record " + std::to_string(record.seq) + " (part of a message)"));
  }
}

TEST(RedactionRoutes, X21_the_secret_itself_is_found_wherever_it_was_quoted) {
  RedactDaemon daemon;
  ASSERT_TRUE(daemon.create("log in with hunter2").has_value());
  daemon.agent_comes_up();
  daemon.frame(MessageAgent{.text = "I used hunter2."}, daemon.state().run->id);
  const std::string task =
      daemon.made(daemon.post("/api/tasks", R"({"title":"hunter2 again"})"), "task_");
  const std::string seqs = R"({"seqs":[)" + daemon.seqs_of("message.user") + "]";
  for (const char* const text : {R"("")", "7", "null"}) {
    const auto refused = daemon.post(daemon.at("/redact"), seqs + R"(,"text":)" + text + "}");
    EXPECT_EQ(refused->status(), 400) << refused->body();
  }
  const auto done = daemon.post(daemon.at("/redact"), seqs + R"(,"text":"hunter2"})");
  ASSERT_EQ(done->status(), 200) << done->body();
  EXPECT_TRUE(done->body().contains("(message.agent)")) << done->body();
  EXPECT_TRUE(done->body().contains("task " + task)) << done->body();
}

TEST(RedactionRoutes, X21_the_answer_that_repeats_an_option_is_named_and_redacted) {
  RedactDaemon daemon;
  ASSERT_TRUE(daemon.create("first").has_value());
  daemon.agent_comes_up();
  const RunId run = daemon.state().run->id;
  daemon.frame(
      FramePermission{.request = "r",
                      .title = "a long command",
                      .options = {{.id = "a", .name = "Use hunter2", .kind = "allow_once"}}},
      run);
  const PermissionId asked = daemon.state().permissions.begin()->first;
  ASSERT_TRUE(daemon.ask(AnswerPermission{asked, "a"}).has_value());
  const std::string resolved = daemon.seqs_of("permission.resolved");
  const std::string said = daemon.redact(daemon.seqs_of("permission.requested"));
  EXPECT_TRUE(said.contains("record " + resolved + " (permission.resolved)")) << said;
  EXPECT_TRUE(daemon.redact(resolved).contains("kept for a repeat of the request"));
  for (const std::string& bytes : daemon.stored(daemon.session)) {
    EXPECT_FALSE(bytes.contains("hunter2")) << bytes;
  }
  EXPECT_TRUE(verify_chain(daemon.stored(daemon.session)).has_value());
}

TEST(RedactionRoutes, X21_data_that_was_moved_aside_is_named) {
  RedactDaemon daemon;
  daemon.world->set_aside = [] { return std::vector<std::string>{"/data/archive/2026"}; };
  ASSERT_TRUE(daemon.create("log in with hunter2").has_value());
  daemon.agent_comes_up();
  const std::string said = daemon.redact(daemon.seqs_of("message.user"));
  EXPECT_TRUE(said.contains("/data/archive/2026")) << said;
}

}  // namespace
}  // namespace perdure
