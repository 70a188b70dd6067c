// A daemon whose journal is in a database, and a database that becomes unavailable, at rest and
// during a start: the daemon stays alive, reports it, and recovers automatically. And a second
// daemon with the same name.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api_client.h"
#include "daemon_process.h"
#include "env/posix/process/proc.h"
#include "journal_check.h"
#include "testing/postgres/pg_gate.h"
#include "testing/postgres/postgres_server.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class Database : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
};

// A daemon with one session, connected through a gate.
struct Gated {
  bool start() {
    if (!daemon.start()) return false;
    session = client.create_session({});
    return !session.empty();
  }
  bool prompt(const std::string& text, const std::string& key) {
    sent.emplace(key, SentPrompt{.text = text});
    return client.prompt({.session = session, .text = text, .key = key}).ok();
  }
  // A prompt that cannot be recorded is rejected.
  void leave() {
    gate.set(PgGate::Door::shut);
    const ApiReply refused = client.prompt({.session = session, .text = "say 1", .key = "away"});
    EXPECT_EQ(refused.status, 503) << refused.body;
    EXPECT_EQ(refused.at("error.code"), "unavailable") << refused.body;
    EXPECT_TRUE(daemon.is_running());
  }
  bool come_back() {
    gate.set(PgGate::Door::open);
    return until([&] { return prompt("say 1", "back"); });
  }
  // A commit whose response is cut off: the client still gets one response.
  void prompt_with_cut_answer() {
    gate.arm(PgGate::Strike::after);
    EXPECT_TRUE(prompt("say 1", "cut"));
    EXPECT_TRUE(gate.has_struck());
  }
  bool is_idle() {
    return until(
        [&] { return client.get("/api/sessions/" + session).at("session.status") == "idle"; });
  }
  // Also waits until it is idle, so that the next run can begin.
  bool have_completed(std::size_t runs) {
    return until([&] { return client.count(session, "run.completed") == runs; }) && is_idle();
  }
  void expect_nothing_lost_or_doubled() {
    EXPECT_EQ(client.count(session, "message.user"), sent.size());
    const JudgedSession judged{session, client.records(session), sent};
    for (const std::string& wrong : judge(judged, Rest::quiet)) ADD_FAILURE() << wrong;
    EXPECT_TRUE(client.post("/api/sessions/" + session + "/stop").ok());
    EXPECT_TRUE(daemon.until_no_hosted());
    EXPECT_EQ(daemon.stop(), 0) << daemon.output();
    for (const std::string& wrong : judge_database(place)) ADD_FAILURE() << wrong;
  }

  // Call before start(): every agentctl stops when it becomes attachable, before it has reported
  // that.
  void stop_before_answers() {
    const std::string folder = daemon.folder() + "/bin";
    fs::create_directory(folder);
    fs::copy(PERDURE_PROGRAM, folder);
    const std::string agentctl = folder + "/perdure-agentctl";
    std::ofstream(agentctl) << "#!/bin/sh\nFAILPOINT='agentctl.before_answer=1*stop' exec "
                            << PERDURE_AGENTCTL << " \"$@\"\n";
    fs::permissions(agentctl, fs::perms::owner_all);
    daemon.setup().program = folder + "/perdure";
    // The first process of a process namespace cannot stop itself.
    daemon.setup().config = "[sessions]\nconfine = false\n";
    daemon.write_config();
  }
  // Including those that are starting, and those that wait for their answer.
  std::vector<pid_t> agentctls() const {
    std::vector<pid_t> found;
    for (const MarkedProcess& process : daemon.processes()) {
      if (process.kind == ProcessKind::agentctl) found.push_back(process.pid);
    }
    return found;
  }
  // 0: none is stopped.
  pid_t stopped_agentctl() const {
    for (const pid_t pid : agentctls()) {
      const Result<ProcStat> stat = read_proc_stat(pid);
      if (stat && stat->state == 'T') return pid;
    }
    return 0;
  }

  std::string place = PostgresServer::shared().new_database();
  PgGate gate{PostgresServer::shared().socket_path()};
  DaemonProcess daemon{
      {.arguments = {"--store", PostgresServer::through_port(place, gate.port())}}};
  ApiClient client{daemon.endpoint()};
  std::string session;
  std::map<std::string, SentPrompt> sent;
};

TEST_F(Database, ACK1_J2_a_database_that_was_away_is_used_again_and_nothing_is_lost_or_doubled) {
  Gated at;
  ASSERT_TRUE(at.start()) << at.daemon.output();
  ASSERT_TRUE(at.prompt("say 2", "first"));
  ASSERT_TRUE(at.have_completed(1)) << at.daemon.output();
  at.leave();
  ASSERT_TRUE(at.come_back()) << at.daemon.output();
  ASSERT_TRUE(at.have_completed(2)) << at.daemon.output();
  at.prompt_with_cut_answer();
  ASSERT_TRUE(at.have_completed(3)) << at.daemon.output();
  at.expect_nothing_lost_or_doubled();
}

TEST_F(Database, ACK1_J2_a_database_that_goes_away_at_some_moment_of_a_start_does_no_harm_either) {
  Gated at;
  ASSERT_TRUE(at.start()) << at.daemon.output();
  ASSERT_TRUE(at.prompt("say 2", "first"));
  ASSERT_TRUE(at.is_idle());  // still, after some time
  at.leave();
  ASSERT_TRUE(at.come_back()) << at.daemon.output();
  at.prompt_with_cut_answer();
  ASSERT_TRUE(at.have_completed(3)) << at.client.records(at.session).back();
  at.expect_nothing_lost_or_doubled();
}

// A daemon that cannot query a session's owner gives up neither the session nor its start.
TEST_F(Database, ACK1_X16_a_start_that_is_under_way_is_waited_for_though_the_database_is_away) {
  Gated at;
  at.stop_before_answers();
  ASSERT_TRUE(at.start()) << at.daemon.output();
  ASSERT_TRUE(at.prompt("say 2", "first"));
  ASSERT_TRUE(until([&] { return at.stopped_agentctl() != 0; }));
  const pid_t agentctl = at.stopped_agentctl();
  const std::vector<pid_t> on_their_way = at.agentctls();
  at.leave();
  EXPECT_EQ(at.agentctls(), on_their_way);
  ASSERT_EQ(kill(agentctl, SIGCONT), 0);
  ASSERT_TRUE(at.come_back()) << at.daemon.output();
  ASSERT_TRUE(at.have_completed(2)) << at.client.records(at.session).back();
  EXPECT_EQ(at.client.count(at.session, "executor.starting"), 1U);
  EXPECT_EQ(at.agentctls(), std::vector{agentctl});
  at.expect_nothing_lost_or_doubled();
}

TEST_F(Database, C19_a_second_daemon_of_the_same_name_takes_over_and_the_first_one_ends) {
  const std::string place = PostgresServer::shared().new_database();
  DaemonProcess first({.arguments = {"--store", place, "--node", "n"}});
  ASSERT_TRUE(first.start());
  DaemonProcess second({.arguments = {"--store", place, "--node", "n"}});
  ASSERT_TRUE(second.start());
  ApiClient client(first.endpoint());
  (void)client.create_session({});
  EXPECT_NE(first.until_exit(), 0);
  EXPECT_TRUE(first.log().contains("has taken over")) << first.log();
  ApiClient next(second.endpoint());
  EXPECT_FALSE(next.create_session({}).empty());
}

}  // namespace
}  // namespace perdure
