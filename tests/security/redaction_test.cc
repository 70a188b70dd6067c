// A pasted password is redacted: afterwards it is in no file of the data folder and in no row of
// the database, while the agent lives, after it has stopped, and after another daemon has opened
// the folder.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "daemon_test.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr const char* password = "hunter2correcthorse";

class Redaction : public DaemonTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    std::string store = GetParam();
    if (store == "postgres") {
      if (const std::string why = PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
      store = database_ = PostgresServer::shared().new_database();
    }
    begin({.arguments = {"--store", store}});
    if (HasFatalFailure()) return;
    session_ = client_->create_session(
        {.more = R"("title":"log in with )" + std::string(password) + "\""});
    ASSERT_FALSE(session_.empty());
  }
  void say(const std::string& text) {
    const std::size_t before = client_->count(session_, "run.completed");
    const ApiReply sent = client_->prompt({.session = session_, .text = text});
    ASSERT_TRUE(sent.ok()) << sent.body;
    ASSERT_TRUE(until_count(session_, "run.completed", before + 1));
  }
  std::string seqs_with(const std::string& text) {
    std::string seqs;
    for (const std::string& record : client_->records(session_)) {
      if (!record.contains(text)) continue;
      seqs += (seqs.empty() ? "" : ",") + json_at(record, "seq");
    }
    return seqs;
  }
  ApiReply redact(const std::string& seqs, const std::string& more = "") {
    return client_->post("/api/sessions/" + session_ + "/redact",
                         R"({"seqs":[)" + seqs + "]" + more + "}");
  }
  std::string files() const {
    std::string all;
    for (const std::string& file : files_with(daemon_->home(), password)) all += file + "\n";
    return all + rows();
  }
  std::string rows() const {
    return database_.empty() ? "" : PostgresServer::tables_with(database_, password);
  }
  // The remaining places named in the response. PostgreSQL keeps old rows in its own files for a
  // time.
  void expect_none_left(const std::string& answer) const {
    const std::vector<std::string> left = json_list(answer, "left");
    ASSERT_EQ(left.size(), database_.empty() ? 0U : 1U) << answer;
    if (left.empty()) return;
    EXPECT_EQ(json_at(left[0], "where"), "the files of the store");
    EXPECT_TRUE(json_at(left[0], "until").starts_with("VACUUM FULL")) << left[0];
  }

  std::string session_;
  std::string database_;  // with PostgreSQL
};

TEST_P(Redaction, X21_SEC10_a_pasted_password_is_in_no_file_afterwards) {
  // Typed, repeated by the agent (so that its spool has it), and waiting to be sent.
  say(std::string("it is ") + password + "\nsay 1");
  say("recall");
  ASSERT_TRUE(client_->prompt({.session = session_, .text = "hang"}).ok());
  ASSERT_TRUE(until_count(session_, "run.started", 3));
  ASSERT_TRUE(client_
                  ->post("/api/sessions/" + session_ + "/prompt",
                         R"({"text":"later: )" + std::string(password) + R"(","when":"queue"})")
                  .ok());
  ASSERT_TRUE(until([&] {
    return client_->get(std::string("/api/search?q=") + password).body.contains(session_);
  }));
  ASSERT_NE(files(), "");
  ASSERT_EQ(rows().empty(), database_.empty());
  const std::string seqs = seqs_with(password);
  ASSERT_GE(std::ranges::count(seqs, ','), 3) << "a title, a prompt, an echo, a queued prompt";
  const ApiReply redacted = redact(seqs);
  ASSERT_EQ(redacted.status, 200) << redacted.body;
  expect_none_left(redacted.body);
  EXPECT_EQ(files(), "") << "with the agent alive";
  EXPECT_EQ(field(session_, "title"), "[redacted]");
  EXPECT_FALSE(client_->get("/api/sessions").body.contains(password));
  EXPECT_FALSE(client_->get("/api/sessions/" + session_ + "/export").body.contains(password));
  EXPECT_FALSE(client_->get(std::string("/api/search?q=") + password).body.contains(session_));

  // The session continues, and neither its end nor a restart brings anything back.
  ASSERT_TRUE(client_->post("/api/sessions/" + session_ + "/cancel").ok());
  ASSERT_TRUE(until_count(session_, "run.cancelled", 1));
  say("say 1");
  EXPECT_EQ(files(), "");
  ASSERT_TRUE(client_->post("/api/sessions/" + session_ + "/stop").ok());
  ASSERT_TRUE(until_count(session_, "executor.stopped", 1));
  EXPECT_EQ(files(), "");
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_EQ(files(), "");
  ASSERT_TRUE(daemon_->start().has_value());
  EXPECT_EQ(field(session_, "title"), "[redacted]");
  EXPECT_EQ(files(), "");
  say("say 1");
}

// After a crash right after the response, everything reported as removed is still removed.
TEST_P(Redaction, X21_J2_a_redaction_that_was_answered_outlives_the_daemon) {
  say(std::string("it is ") + password + "\nsay 1");
  const ApiReply redacted = redact(seqs_with(password));
  ASSERT_EQ(redacted.status, 200) << redacted.body;
  daemon_->kill_daemon();
  EXPECT_EQ(files(), "");
  ASSERT_TRUE(daemon_->start().has_value());
  EXPECT_EQ(seqs_with(password), "");
  EXPECT_EQ(field(session_, "title"), "[redacted]");
  EXPECT_EQ(files(), "");
}

TEST_P(Redaction, X21_a_fork_is_named_and_redacted_by_itself) {
  say(std::string("it is ") + password + "\nsay 1");
  const ApiReply forked =
      client_->post("/api/sessions/" + session_ + "/fork", R"({"share_cwd":true})");
  ASSERT_TRUE(forked.ok()) << forked.body;
  const std::string fork = json_at(forked.body, "session.id");
  const ApiReply redacted = redact(seqs_with(password));
  ASSERT_EQ(redacted.status, 200) << redacted.body;
  EXPECT_TRUE(redacted.body.contains("fork " + fork)) << redacted.body;
  session_ = fork;
  ASSERT_EQ(redact(seqs_with(password)).status, 200);
  EXPECT_EQ(files(), "");
}

// What the first answer names is all there is: after it was redacted, too, the text is in no file.
TEST_P(Redaction, X21_SEC10_tasks_and_rules_with_the_text_are_named_and_redacted) {
  say(std::string("say ") + password);
  const auto made = [&](const ApiReply& reply, const char* path) {
    EXPECT_TRUE(reply.ok()) << reply.body;
    return json_at(reply.body, path);
  };
  const std::string secret(password);
  const std::string task =
      made(client_->post("/api/tasks", R"({"title":"t","description":"it is )" + secret + "\"}"),
           "task.task_id");
  const std::string rule =
      made(client_->post("/api/rules", R"({"effect":"deny","argv":["curl",")" + secret + "\"]}"),
           "rule.id");
  const ApiReply redacted = redact(seqs_with(password), R"(,"text":")" + secret + '"');
  ASSERT_EQ(redacted.status, 200) << redacted.body;
  EXPECT_TRUE(redacted.body.contains("task " + task)) << redacted.body;
  EXPECT_TRUE(redacted.body.contains("permission rule " + rule)) << redacted.body;
  ASSERT_TRUE(client_->call({.method = "DELETE", .path = "/api/rules/" + rule}).ok());
  const ApiReply rest =
      client_->post("/api/redact", R"({"ids":[")" + task + R"(",")" + rule + R"("]})");
  ASSERT_EQ(rest.status, 200) << rest.body;
  expect_none_left(rest.body);
  EXPECT_EQ(files(), "");
  EXPECT_TRUE(client_->get("/api/tasks/" + task).body.contains("[redacted]"));
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_EQ(files(), "");
  ASSERT_TRUE(daemon_->start().has_value());
  EXPECT_TRUE(client_->get("/api/tasks/" + task).body.contains("[redacted]"));
  EXPECT_EQ(files(), "");
}

TEST_P(Redaction, X21_another_session_with_the_text_is_named) {
  say(std::string("say ") + password);
  const std::string first = std::exchange(session_, client_->create_session({}));
  ASSERT_FALSE(session_.empty());
  say(std::string("use \"") + password + "\" there");
  const std::string other = std::exchange(session_, first);
  ASSERT_TRUE(until(
      [&] { return client_->get(std::string("/api/search?q=") + password).body.contains(other); }));
  const ApiReply redacted =
      redact(seqs_with(password), R"(,"text":")" + std::string(password) + '"');
  ASSERT_EQ(redacted.status, 200) << redacted.body;
  EXPECT_TRUE(redacted.body.contains("session " + other + ", record ")) << redacted.body;
  session_ = other;
  ASSERT_EQ(redact(seqs_with(password)).status, 200);
  EXPECT_EQ(files(), "");
}

INSTANTIATE_TEST_SUITE_P(Stores, Redaction, ::testing::Values("sqlite", "files", "postgres"),
                         [](const auto& store) { return std::string(store.param); });

// Perdure does not pass on the secrets it was given, wherever an agent or a person put them.
TEST_F(DaemonTest, X21_SEC7_known_secrets_leave_neither_by_notification_nor_by_export_nor_log) {
  const std::string told = ::testing::TempDir() + "told-" + std::to_string(getpid());
  begin({.config = "[notify]\ndebounce_ms = 1\ncommand = [\"/bin/sh\", \"-c\", \"cat >> " + told +
                   "; echo $PERDURE_TITLE >> " + told + "\"]\n"});
  const std::string session =
      client_->create_session({.more = R"("env":{"API_KEY":"open-sesame-1","MODE":"production"},)"
                                       R"("title":"use open-sesame-1 in production")"});
  ASSERT_FALSE(session.empty());
  ASSERT_TRUE(client_->prompt({.session = session, .text = "open-sesame-1\nsay 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  ASSERT_TRUE(until([&] { return read_text(told).contains("use *** in production"); }))
      << read_text(told);
  EXPECT_FALSE(read_text(told).contains("open-sesame-1"));
  const std::string file = client_->get("/api/sessions/" + session + "/export").body;
  EXPECT_TRUE(file.contains("use *** in production"));
  EXPECT_FALSE(file.contains("open-sesame-1"));
  EXPECT_FALSE(daemon_->log().contains("open-sesame-1"));
  for (const char* const route : {"/transcript", "/history"}) {
    const std::string body = client_->get("/api/sessions/" + session + route).body;
    EXPECT_TRUE(body.contains("***")) << body;
    EXPECT_FALSE(body.contains("open-sesame-1")) << body;
  }
  EXPECT_TRUE(client_->call({.method = "POST", .path = "/api/import", .body = file}).ok());
  fs::remove(told);
}

}  // namespace
}  // namespace perdure
