// A daemon with a hosted agent that runs prompts in a shell: the base for attacks by processes of
// that session.
#pragma once

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "guarded_daemon.h"

namespace perdure {

inline constexpr const char* attacks = PERDURE_ATTACKS;

class HostileAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
    start({});
  }
  void start(const std::string& more_config) {
    daemon_ = std::make_unique<GuardedDaemon>(
        DaemonSetup{.config = more_config + "\n[agents.hostile]\ncommand = ['/usr/bin/python3', '" +
                              std::string(attacks) + "/hostile_agent.py']\n"});
    ASSERT_EQ(daemon_->start(), "");
    session_ = client().create_session({.agent = "hostile"});
    ASSERT_FALSE(session_.empty());
  }
  void TearDown() override {
    if (daemon_ && ::testing::Test::HasFailure()) {
      for (const std::string& record : client().records(session_)) std::cerr << record << "\n";
    }
  }
  ApiClient client() { return daemon_->client(); }
  std::string said() {
    std::string all;
    for (const std::string& record : client().records(session_)) {
      if (json_at(record, "kind") == "message.agent") all += json_at(record, "text");
    }
    return all;
  }
  // Opens a question; the session stays in that turn.
  void ask() {
    ASSERT_TRUE(client().prompt({.session = session_, .text = "ask true"}).ok());
    ASSERT_TRUE(until([&] { return said().find("attempted") != std::string::npos; }, 30'000));
    for (const std::string& record : client().records(session_)) {
      if (json_at(record, "kind") == "permission.requested") {
        permission_ = json_at(record, "perm_id");
      }
      if (json_at(record, "kind") == "token.minted") wait_ = json_at(record, "token_id");
    }
    ASSERT_FALSE(permission_.empty());
    ASSERT_FALSE(wait_.empty());
  }
  // Runs an attack in a second session of the same agent; returns its output.
  std::string attack(const std::string& command) {
    if (attacker_.empty()) attacker_ = client().create_session({.agent = "hostile"});
    const std::size_t before = client().count(attacker_, "run.completed");
    const ApiReply reply = client().prompt({.session = attacker_, .text = command});
    EXPECT_TRUE(reply.ok()) << reply.body;
    EXPECT_TRUE(until([&] { return client().count(attacker_, "run.completed") > before; }, 60'000));
    std::string last;
    until([&] { return !(last = said_in_last_run(attacker_)).empty(); });
    return last;
  }
  std::string said_in_last_run(const std::string& session) {
    std::string last;
    for (const std::string& record : client().records(session)) {
      const std::string kind = json_at(record, "kind");
      if (kind == "run.started") last.clear();
      if (kind == "message.agent") last += json_at(record, "text");
    }
    return last;
  }
  std::string request(const std::string& words) {
    return attack("/usr/bin/python3 " + std::string(attacks) + "/request.py " + words);
  }
  void expect_open() {
    EXPECT_EQ(client().count(session_, "permission.resolved"), 0u);
    EXPECT_EQ(client().count(session_, "token.consumed"), 0u);
    EXPECT_NE(client().get("/api/inbox").body.find(permission_), std::string::npos);
  }
  std::string grant() const {
    return "POST /api/permissions/" + permission_ + R"( '{"option_id":"allow"}')";
  }

  std::unique_ptr<GuardedDaemon> daemon_;
  std::string session_;
  std::string attacker_;
  std::string permission_;
  std::string wait_;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Pids of processes with exactly this command line.
inline std::vector<pid_t> processes_named(const std::string& words) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string text = read_text(entry.path() / "cmdline");
    for (char& c : text) c = c == '\0' ? ' ' : c;
    if (text == words + " ") found.push_back(std::stoi(name));
  }
  return found;
}

// Ends all processes with that command line when the test ends, even if it fails.
struct EndedWithTest {
  std::string words;
  ~EndedWithTest() {
    for (const pid_t pid : processes_named(words)) kill(pid, SIGKILL);
  }
};

}  // namespace perdure
