// Stories of the daemon's life on the real programs: colliding starts, disorderly ends, and the
// state afterwards. Ids as in docs/requirements.txt.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api_client.h"
#include "daemon_process.h"
#include "heal.h"
#include "journal_check.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr int exit_refused = 4;

std::size_t daemons(const DaemonProcess& daemon) {
  std::size_t found = 0;
  for (const MarkedProcess& process : daemon.processes()) {
    found += process.kind == ProcessKind::daemon;
  }
  return found;
}

// Daemons that are not children of this test.
void end_daemons(const DaemonProcess& daemon) {
  for (const MarkedProcess& process : daemon.processes()) {
    if (process.kind == ProcessKind::daemon) kill(process.pid, SIGTERM);
  }
  EXPECT_TRUE(until([&] { return daemons(daemon) == 0; }));
}

class DaemonStory : public testing::Test {
 protected:
  std::string status(const std::string& session) {
    return api_.get("/api/sessions/" + session).at("session.status");
  }
  // A session in the middle of a turn that ends only when the test answers it.
  std::string busy_session(const std::string& more = "") {
    const std::string session = api_.create_session({.more = more});
    EXPECT_TRUE(api_.prompt({.session = session, .text = "say 2; permission 1; say 1"}).ok());
    EXPECT_TRUE(until([&] { return status(session) == "waiting"; })) << session;
    return session;
  }
  ProgramRun run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {PERDURE_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, daemon_.environment());
  }

  DaemonProcess daemon_;
  ApiClient api_{daemon_.endpoint()};
};

TEST_F(DaemonStory, D1_O13_O26_a_turn_that_died_is_interrupted_once_over_three_restarts) {
  ASSERT_TRUE(daemon_.start());
  const std::string session = busy_session();
  daemon_.kill_daemon();
  daemon_.kill_hosted();
  std::size_t head = 0;
  for (int restart = 1; restart <= 3; ++restart) {
    ASSERT_TRUE(daemon_.start());
    ASSERT_TRUE(until([&] { return api_.count(session, "run.interrupted") == 1; }));
    const std::size_t now = api_.records(session).size();
    if (restart > 1) EXPECT_EQ(now, head) << "X19: a boot with nothing new adds nothing";
    head = now;
    daemon_.kill_daemon();
  }
}

TEST_F(DaemonStory, D1_C9_with_its_agentctl_alive_nothing_is_interrupted_over_three_restarts) {
  ASSERT_TRUE(daemon_.start());
  const std::string session = busy_session();
  for (int restart = 1; restart <= 3; ++restart) {
    daemon_.kill_daemon();
    ASSERT_TRUE(daemon_.start());
    EXPECT_EQ(status(session), "waiting");
  }
  EXPECT_EQ(heal(api_, {session}), "");
  EXPECT_EQ(api_.count(session, "run.interrupted"), 0u);
  EXPECT_EQ(api_.count(session, "run.completed"), 1u);
}

TEST_F(DaemonStory, C9_D1_O26_without_survive_the_agent_ends_with_its_daemon) {
  ASSERT_TRUE(daemon_.start());
  const std::string session = busy_session(R"("survive":false)");
  daemon_.kill_daemon();
  EXPECT_TRUE(daemon_.until_no_hosted());
  for (int restart = 1; restart <= 3; ++restart) {
    ASSERT_TRUE(daemon_.start());
    ASSERT_TRUE(until([&] { return api_.count(session, "run.interrupted") == 1; }));
    daemon_.kill_daemon();
  }
}

TEST_F(DaemonStory, D2_a_lock_file_of_another_program_does_not_keep_us_from_starting) {
  ASSERT_TRUE(daemon_.start());
  daemon_.kill_daemon();
  std::ofstream(daemon_.home() + "/lock") << getpid() << "\n";
  ASSERT_TRUE(fs::exists(daemon_.home() + "/run/perdure.sock"));
  EXPECT_TRUE(daemon_.start()) << daemon_.output();
}

TEST_F(DaemonStory, D4_two_daemons_started_at_once_are_one) {
  std::vector<ProgramRun> runs(4);
  std::vector<std::thread> starters;
  for (ProgramRun& one : runs) {
    starters.emplace_back([&] { one = run({"serve", "--background"}); });
  }
  for (std::thread& starter : starters) starter.join();
  // A rejected daemon prints the reason before it exits.
  EXPECT_TRUE(until([&] { return daemons(daemon_) == 1; }));
  int winners = 0;
  for (const ProgramRun& one : runs) {
    winners += one.exit_code == 0;
    EXPECT_TRUE(one.exit_code == 0 || one.exit_code == exit_refused) << one.output;
  }
  EXPECT_GE(winners, 1);
  EXPECT_TRUE(until([&] { return api_.get("/readyz").ok(); }));
  EXPECT_EQ(daemons(daemon_), 1u);
  end_daemons(daemon_);
}

TEST_F(DaemonStory, D4_commands_that_start_the_daemon_at_once_all_reach_it) {
  std::vector<ProgramRun> runs(4);
  std::vector<std::thread> starters;
  for (ProgramRun& one : runs) starters.emplace_back([&] { one = run({"ls", "--json"}); });
  for (std::thread& starter : starters) starter.join();
  for (const ProgramRun& one : runs) EXPECT_EQ(one.exit_code, 0) << one.output;
  EXPECT_EQ(daemons(daemon_), 1u);
  end_daemons(daemon_);
}

TEST_F(DaemonStory, D5_a_port_in_use_is_named_and_without_a_wish_the_next_one_serves) {
  const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  daemon_.setup().config = "listen = '127.0.0.1:" + port + "'";
  daemon_.write_config();
  const Result<> started = daemon_.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message().find(port), std::string::npos) << started.error().message();
  close(taken);

  daemon_.setup().config = "# listen: as it comes";
  daemon_.write_config();
  DaemonProcess second({.config = "# listen: as it comes"});
  EXPECT_TRUE(daemon_.start()) << daemon_.output();
  EXPECT_TRUE(second.start()) << second.output();
}

TEST_F(DaemonStory, S8_D5_a_second_daemon_is_refused_and_takes_nothing_away) {
  ASSERT_TRUE(daemon_.start());
  const std::string session = busy_session();
  const ProgramRun second = run({"serve"});
  EXPECT_EQ(second.exit_code, exit_refused) << second.output;
  EXPECT_NE(second.output.find("perdure serve: "), std::string::npos);
  EXPECT_EQ(heal(api_, {session}), "");
  EXPECT_TRUE(judge({session, api_.records(session), {}}, Rest::quiet).empty());
}

TEST_F(DaemonStory, D7_a_daemon_that_does_not_stop_is_not_joined_by_a_second_one) {
  ASSERT_TRUE(daemon_.start());
  const std::string session = busy_session();
  daemon_.signal(SIGSTOP);
  daemon_.signal(SIGTERM);  // delivered only after it continues
  EXPECT_EQ(run({"serve"}).exit_code, exit_refused);
  EXPECT_EQ(daemons(daemon_), 1u);
  daemon_.signal(SIGCONT);
  EXPECT_EQ(daemon_.until_exit(), 0);
  ASSERT_TRUE(daemon_.start());
  EXPECT_EQ(status(session), "waiting");
}

TEST_F(DaemonStory, D8_the_program_is_replaced_while_sessions_run_and_they_go_on) {
  const std::string folder = daemon_.folder() + "/bin";
  fs::create_directory(folder);
  const std::vector<std::string> programs = {PERDURE_PROGRAM, PERDURE_AGENTCTL};
  for (const std::string& program : programs) fs::copy(program, folder);
  daemon_.setup().program = folder + "/perdure";
  ASSERT_TRUE(daemon_.start());
  const std::string session = busy_session();
  for (const std::string& program : programs) {
    const std::string name = folder + "/" + fs::path(program).filename().string();
    fs::copy(program, name + ".new");
    fs::rename(name + ".new", name);
  }
  // The old one still starts agents.
  const std::string later = busy_session();
  EXPECT_EQ(daemon_.stop(), 0);
  ASSERT_TRUE(daemon_.start());
  EXPECT_EQ(heal(api_, {session, later}), "");
  for (const std::string& each : {session, later}) {
    EXPECT_EQ(api_.count(each, "run.completed"), 1u);
    EXPECT_EQ(api_.count(each, "run.interrupted"), 0u);
  }
}

TEST_F(DaemonStory, D10_C11_K2_A31_after_everything_died_ten_sessions_are_listed_and_none_prompts) {
  ASSERT_TRUE(daemon_.start());
  std::vector<std::string> sessions;
  for (int i = 0; i < 10; ++i) sessions.push_back(busy_session());
  daemon_.kill_daemon();
  daemon_.kill_hosted();
  ASSERT_TRUE(daemon_.start());
  const std::string list = api_.get("/api/sessions").body;
  for (const std::string& session : sessions) {
    EXPECT_NE(list.find(session), std::string::npos);
    ASSERT_TRUE(until([&] { return status(session) == "interrupted_waiting"; })) << status(session);
    EXPECT_EQ(api_.count(session, "run.started"), 1u);
    bool has_reason = false;
    for (const std::string& record : api_.records(session)) {
      has_reason |=
          json_at(record, "kind") == "run.interrupted" && json_at(record, "reason") == "wait_lost";
    }
    EXPECT_TRUE(has_reason);
  }
  EXPECT_TRUE(daemon_.until_no_hosted(0)) << "K2: no agent starts by itself";
}

TEST_F(DaemonStory, S7_S12_a_journal_that_vanished_is_not_replaced_by_an_empty_one) {
  ASSERT_TRUE(daemon_.start());
  const std::string session = api_.create_session({});
  EXPECT_EQ(daemon_.stop(), 0);
  const std::string store = daemon_.home() + "/perdure.db";
  fs::rename(store, daemon_.folder() + "/kept");
  const Result<> started = daemon_.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message().find("restore"), std::string::npos);
  EXPECT_FALSE(fs::exists(store));
  fs::rename(daemon_.folder() + "/kept", store);
  ASSERT_TRUE(daemon_.start()) << daemon_.output();
  EXPECT_NE(api_.get("/api/sessions").body.find(session), std::string::npos);
}

TEST_F(DaemonStory, S12_a_data_folder_that_cannot_be_made_is_refused_with_its_name) {
  std::ofstream(daemon_.folder() + "/file") << "no folder";
  std::vector<std::string> environment = daemon_.environment();
  const std::string place = daemon_.folder() + "/file/data";
  environment.push_back("PERDURE_HOME=" + place);
  std::erase(environment, "PERDURE_HOME=" + daemon_.home());
  const ProgramRun started = run_program({PERDURE_PROGRAM, "serve"}, environment);
  EXPECT_EQ(started.exit_code, 1);
  EXPECT_NE(started.output.find(place), std::string::npos) << started.output;
}

// For the engines with backups; a database has its own tools.
class BackupStory : public DaemonStory, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, BackupStory, testing::Values("sqlite", "files"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST_P(BackupStory, S13_a_backup_taken_while_writing_is_a_prefix_and_serves_in_another_home) {
  daemon_.setup().arguments = {"--store", GetParam()};
  ASSERT_TRUE(daemon_.start());
  const std::string waiting = busy_session();
  const std::string writing = api_.create_session({});
  ASSERT_TRUE(api_.prompt({.session = writing, .text = "chunks 3000 500; sleep 200; say 2"}).ok());
  ASSERT_TRUE(until([&] { return api_.count(writing, "message.agent") > 50; }));
  const std::string file = daemon_.folder() + "/backup";
  const ApiReply backup = api_.post("/api/backup", R"({"path":")" + file + R"("})");
  ASSERT_TRUE(backup.ok()) << backup.body;

  DaemonProcess other;
  const ProgramRun restored = run_program({PERDURE_PROGRAM, "restore", file}, other.environment());
  ASSERT_EQ(restored.exit_code, 0) << restored.output;
  const ProgramRun verified = run_program({PERDURE_PROGRAM, "verify"}, other.environment());
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  ASSERT_TRUE(other.start()) << other.output();
  ApiClient there(other.endpoint());
  ASSERT_EQ(heal(there, {waiting, writing}), "");
  const JudgedSession copy{writing, there.records(writing), {}};
  for (const std::string& wrong : judge(copy, Rest::quiet)) ADD_FAILURE() << wrong;
  // The copy knows nothing of another daemon's agents.
  EXPECT_EQ(status(waiting), "waiting") << "the agent of the first home was touched";
  ASSERT_EQ(heal(api_, {waiting, writing}), "");
  const std::vector<std::string> original = api_.records(writing);
  std::size_t equal = 0;
  while (equal < std::min(original.size(), copy.records.size()) &&
         original[equal] == copy.records[equal]) {
    ++equal;
  }
  EXPECT_GT(equal, 50u);
  EXPECT_EQ(api_.count(writing, "run.completed"), 1u);
}

TEST_F(DaemonStory, U12_a_clean_start_puts_everything_aside_and_ends_the_agents) {
  ASSERT_TRUE(daemon_.start());
  const std::string session = busy_session();
  EXPECT_EQ(daemon_.stop(), 0);
  daemon_.setup().arguments = {"--clean-start"};
  ASSERT_TRUE(daemon_.start()) << daemon_.output();
  EXPECT_TRUE(json_list(api_.get("/api/sessions").body, "sessions").empty());
  EXPECT_TRUE(daemon_.until_no_hosted());
  EXPECT_EQ(daemon_.stop(), 0);
  std::string kept;
  for (const auto& entry : fs::directory_iterator(daemon_.home() + "/archive")) kept = entry.path();
  ASSERT_FALSE(kept.empty());
  EXPECT_TRUE(judge_store(kept + "/perdure.db").empty());
  // It can be restored.
  daemon_.setup().arguments.clear();
  for (const char* name : {"perdure.db", "wait.key"}) {
    fs::rename(kept + "/" + name, daemon_.home() + "/" + name);
  }
  ASSERT_TRUE(daemon_.start()) << daemon_.output();
  EXPECT_NE(api_.get("/api/sessions").body.find(session), std::string::npos);
}

}  // namespace
}  // namespace perdure
