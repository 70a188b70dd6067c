// The demo of docs/demo.md as a test: a turn and an open question outlive kill -9 of the daemon; a
// turn that dies with everything else is reported as interrupted, once, and its session continues.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api_client.h"
#include "daemon_process.h"

namespace perdure {
namespace {

class Demo : public testing::Test {
 protected:
  ApiReply shown(const std::string& session) { return api_.get("/api/sessions/" + session); }
  std::string status(const std::string& session) { return shown(session).at("session.status"); }
  std::string hash(const std::string& session) {
    return api_.get("/api/sessions/" + session + "/transcript").at("hash");
  }
  std::string begin(const std::string& prompt) {
    return api_.create_session({.agent = "demo", .more = R"("prompt":")" + prompt + "\""});
  }
  std::set<std::string> listed() {
    std::set<std::string> ids;
    for (const std::string& session : json_list(api_.get("/api/sessions").body, "sessions")) {
      ids.insert(json_at(session, "id"));
    }
    return ids;
  }
  // Every record that a reader had before still exists, byte for byte.
  void expect_kept(const std::string& session, const std::vector<std::string>& before) {
    const std::vector<std::string> now = api_.records(session);
    ASSERT_GE(now.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(now[i], before[i]);
  }

  DaemonProcess daemon_;
  ApiClient api_{daemon_.endpoint()};
};

TEST_F(Demo, D1_U2_A31_N5_O13_O26_a_turn_and_a_question_outlive_the_daemon) {
  ASSERT_TRUE(daemon_.start());
  const std::string counting = begin("/long");
  const std::string asking = begin("/ask");
  ASSERT_TRUE(until([&] { return api_.count(counting, "message.agent") >= 2; }));
  ASSERT_TRUE(until([&] { return status(asking) == "waiting"; }));
  const std::set<std::string> list = listed();
  const std::string question =
      json_at(json_list(shown(asking).body, "session.pending").at(0), "perm_id");
  const std::vector<std::string> asked = api_.records(asking);

  // Only the daemon dies. Agents do not notice.
  const std::vector<std::string> counted = api_.records(counting);
  daemon_.kill_daemon();
  ASSERT_TRUE(daemon_.start());
  EXPECT_EQ(listed(), list);
  expect_kept(counting, counted);
  expect_kept(asking, asked);
  EXPECT_EQ(status(counting), "running");
  EXPECT_EQ(status(asking), "waiting");
  ASSERT_TRUE(until([&] { return api_.records(counting).size() > counted.size() + 3; }));
  EXPECT_EQ(api_.count(counting, "run.interrupted"), 0u);
  EXPECT_EQ(api_.count(counting, "run.started"), 1u);

  // Another client answers.
  ApiClient other(daemon_.endpoint());
  EXPECT_TRUE(other.post("/api/permissions/" + question, R"({"option_id":"allow_once"})").ok());
  ASSERT_TRUE(until([&] { return api_.count(asking, "run.completed") == 1; }));
  EXPECT_EQ(api_.count(asking, "permission.resolved"), 1u);

  // Everything dies.
  const std::string answered_hash = hash(asking);
  const std::vector<std::string> before = api_.records(counting);
  daemon_.kill_daemon();
  daemon_.kill_hosted();
  ASSERT_TRUE(daemon_.start());
  expect_kept(counting, before);
  ASSERT_TRUE(until([&] { return status(counting) == "interrupted_startup"; }));
  EXPECT_EQ(api_.count(counting, "run.interrupted"), 1u);
  EXPECT_EQ(hash(asking), answered_hash);
  const std::string interrupted_hash = hash(counting);

  // It is restored with a receipt, and the history is unchanged.
  const ApiReply resumed = api_.post("/api/sessions/" + counting + "/resume");
  ASSERT_TRUE(resumed.ok()) << resumed.body;
  EXPECT_EQ(resumed.at("receipt.rung"), "2") << resumed.body;  // session/resume
  EXPECT_EQ(hash(counting), interrupted_hash);
  EXPECT_EQ(api_.count(counting, "run.started"), 1u);  // K22: it was not prompted
  ASSERT_TRUE(api_.prompt({.session = counting, .text = "what do you remember?"}).ok());
  ASSERT_TRUE(until([&] { return api_.count(counting, "run.completed") == 1; }));
  EXPECT_EQ(api_.count(counting, "run.interrupted"), 1u);
  EXPECT_NE(api_.get("/api/sessions/" + counting + "/transcript").body.find("1. /long"),
            std::string::npos);
}

}  // namespace
}  // namespace perdure
