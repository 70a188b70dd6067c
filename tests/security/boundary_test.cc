// Processes of a session that pretend to be outside: each program got an admin's rights before
// callers were distinguished by their namespaces. SECURITY.md says what holds where.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/prctl.h>
#include <sys/wait.h>

#include "env/posix/confine/confine.h"
#include "hostile_test.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class Boundary : public HostileAgent {
 protected:
  void SetUp() override {
    const Confinement here = try_namespaces();
    if (!here.has_process_namespace) GTEST_SKIP() << here.reason;
    HostileAgent::SetUp();
  }
  std::string run(const std::string& words) {
    return attack("/usr/bin/python3 " + std::string(attacks) + "/attacks.py " + words);
  }
  std::string over_tcp(const std::string& name) {
    return name + " " + std::to_string(daemon_->port) + " " + daemon_->process.admin_token() +
           " /api/permissions/" + permission_ + R"( '{"option_id":"allow"}')";
  }
  // An attack that runs next to the test: they exchange messages as files.
  void begin(const std::string& words) {
    fs::create_directory(steps());
    attacker_ = client().create_session({.agent = "hostile"});
    const ApiReply reply = client().prompt(
        {.session = attacker_,
         .text = "/usr/bin/python3 " + std::string(attacks) + "/attacks.py " + words});
    ASSERT_TRUE(reply.ok()) << reply.body;
  }
  std::string steps() const { return daemon_->process.folder() + "/steps"; }
  void step(const std::string& name) const { std::ofstream(steps() + "/" + name) << ""; }
  bool until_step(const std::string& name) const {
    return until([&] { return fs::exists(steps() + "/" + name); });
  }
  // The daemon is stopped, so that it sees only the final state that the attacker left.
  void ask_while_held() {
    ASSERT_TRUE(until_step("ready"));
    kill(daemon_->process.pid(), SIGSTOP);
    step("ask");
    const bool has_left = until_step("left");
    kill(daemon_->process.pid(), SIGCONT);
    ASSERT_TRUE(has_left);
  }
  std::string end() {
    EXPECT_TRUE(until([&] { return client().count(attacker_, "run.completed") == 1; }));
    std::string said;
    for (const std::string& record : client().records(attacker_)) {
      if (json_at(record, "kind") == "message.agent") said += json_at(record, "text");
    }
    return said;
  }
  pid_t agentctl_of(const std::string& session) {
    for (const MarkedProcess& process : daemon_->process.processes()) {
      if (process.kind == ProcessKind::agentctl && process.session == session) return process.pid;
    }
    return 0;
  }
};

TEST_F(Boundary, TOK3_security_4_an_orphan_without_its_supervisor_mints_nothing) {
  ask();
  const std::string saw = run("kill_supervisor " + daemon_->socket());
  EXPECT_TRUE(has(saw, "status=403")) << saw;
  EXPECT_NE(agentctl_of(attacker_), 0) << "a process of a session ended its own supervisor";
  expect_open();
}

TEST_F(Boundary, PROC4_security_4_nothing_outlives_the_supervisor) {
  const std::string word = "6" + std::to_string(getpid());
  const std::string saw = run("survive " + word);
  ASSERT_TRUE(has(saw, "left")) << saw;
  ASSERT_EQ(processes_named("sleep " + word).size(), 1u);
  kill(agentctl_of(attacker_), SIGKILL);
  EXPECT_TRUE(until([&] { return processes_named("sleep " + word).empty(); }, 20'000));
}

TEST_F(Boundary, PROC4_security_4_nothing_outlives_a_stopped_session) {
  const std::string word = "7" + std::to_string(getpid());
  ASSERT_TRUE(has(run("survive " + word), "left"));
  ASSERT_EQ(processes_named("sleep " + word).size(), 1u);
  EXPECT_TRUE(client().post("/api/sessions/" + attacker_ + "/stop", "{}").ok());
  EXPECT_TRUE(until([&] { return processes_named("sleep " + word).empty(); }, 20'000));
}

// The pid of the process that connected is reused by one outside every session before the request
// is sent.
class ReusedNumber : public Boundary {
 protected:
  void SetUp() override {
    Boundary::SetUp();
    if (IsSkipped()) return;
    number_max_ = std::stoi(read_text("/proc/sys/kernel/pid_max"));
    if (geteuid() != 0 && number_max_ > number_max_to_count_) {
      GTEST_SKIP() << "only root chooses numbers of processes, and there are " << number_max_;
    }
  }
  void TearDown() override {
    if (holder_ > 0) {
      kill(holder_, SIGKILL);
      waitpid(holder_, nullptr, 0);
    }
    Boundary::TearDown();
  }
  // Starts the attack; returns the pid of the process that will connect.
  pid_t begin_attack(const std::string& when) {
    begin("reuse_number " + daemon_->socket() + " " + steps() + " " + when);
    EXPECT_TRUE(until_step("named"));
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (read_text(entry.path() / "comm") == "perdure-reused\n") return std::stoi(name);
    }
    return 0;
  }
  // A process of ours gets that pid. Root sets the next pid; other users consume pids up to it.
  void take_number(pid_t wanted) {
    std::ofstream("/proc/sys/kernel/ns_last_pid") << wanted - 1;
    pid_t last = wanted - 1;
    for (int i = 0; i < 3 * number_max_; ++i) {
      const bool is_close = last < wanted && last + 8 >= wanted;
      const pid_t made = is_close ? fork() : vfork();
      if (made == 0 && !is_close) _exit(0);
      if (made == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getpid() == wanted) pause();
        _exit(0);
      }
      if (made == wanted) return void(holder_ = made);
      waitpid(made, nullptr, 0);
      last = made;
    }
  }
  void expect_refused() {
    step("ask");
    const std::string said = end();
    EXPECT_TRUE(has(said, "status=403")) << said;
    EXPECT_EQ(json_list(client().get("/api/tokens").body, "tokens").size(), 0u);
  }

  static constexpr int number_max_to_count_ = 65536;
  int number_max_ = 0;
  pid_t holder_ = 0;
};

TEST_F(ReusedNumber, TOK3_security_5_after_the_connection_was_accepted_mints_nothing) {
  const pid_t caller = begin_attack("accepted");
  ASSERT_NE(caller, 0);
  step("connect");
  ASSERT_TRUE(until_step("ended"));
  ASSERT_NO_FATAL_FAILURE(take_number(caller));
  ASSERT_EQ(holder_, caller);
  expect_refused();
}

// The daemon is stopped, so that it finds the connection after its maker's pid was reused.
TEST_F(ReusedNumber, TOK3_security_5_before_the_connection_was_accepted_mints_nothing) {
  const pid_t caller = begin_attack("waiting");
  ASSERT_NE(caller, 0);
  kill(daemon_->process.pid(), SIGSTOP);
  step("connect");
  const bool has_ended = until_step("ended");
  if (has_ended) take_number(caller);
  kill(daemon_->process.pid(), SIGCONT);
  ASSERT_TRUE(has_ended);
  ASSERT_EQ(holder_, caller);
  expect_refused();
}

// Zombies of a session stay in /proc, and their pids are checked first.
TEST_F(Boundary, TOK3_zombies_of_a_session_refuse_no_person) {
  ask();
  ASSERT_TRUE(has(run("zombies 100"), "left"));
  const std::string admin = daemon_->process.admin_token();
  for (int i = 0; i < 10; ++i) {
    const RawAnswer minted =
        daemon_->with_token(admin, {.method = "POST", .target = "/api/launch", .body = "{}"});
    ASSERT_EQ(minted.status, 200) << minted.body;
    ASSERT_EQ(daemon_->unix_socket({.method = "POST", .target = "/api/ticket"}).status, 200);
  }
  const RawAnswer answered =
      daemon_->with_token(admin, {.method = "POST",
                                  .target = "/api/permissions/" + permission_,
                                  .body = R"({"option_id":"reject"})"});
  EXPECT_EQ(answered.status, 200) << answered.body;
}

TEST_F(Boundary, TOK3_security_6_a_thread_with_descriptors_of_its_own_answers_nothing) {
  ask();
  const std::string saw = run(over_tcp("thread"));
  EXPECT_TRUE(has(saw, "status=403")) << saw;
  expect_open();
}

TEST_F(Boundary, TOK3_security_6_a_connection_closed_at_once_answers_nothing) {
  ask();
  begin(over_tcp("close") + " " + steps());
  ASSERT_NO_FATAL_FAILURE(ask_while_held());
  EXPECT_TRUE(has(end(), "closed"));
  expect_open();
}

TEST_F(Boundary, TOK3_security_6_a_connection_in_flight_answers_nothing) {
  ask();
  begin(over_tcp("pass") + " " + steps());
  ASSERT_NO_FATAL_FAILURE(ask_while_held());
  EXPECT_TRUE(until([&] {
    return has(client().get("/api/audit?limit=1000").body, "request.refuse") ||
           client().count(session_, "permission.resolved") > 0;
  }));
  step("judged");
  const std::string saw = end();
  EXPECT_TRUE(has(saw, "status=403")) << saw;
  expect_open();
}

// A process that could put its own socket there would serve the owner's next command as the daemon.
TEST_F(Boundary, TOK3_the_daemons_socket_cannot_be_moved_replaced_or_locked) {
  const std::string run = fs::path(daemon_->socket()).parent_path();
  const std::string saw =
      attack("cd " + run +
             "; mv perdure.sock x && echo moved; touch y && echo made; "
             "chmod 0 perdure.sock && echo closed; find . -mindepth 2; find . -type f; echo over");
  EXPECT_TRUE(has(saw, "over")) << saw;
  for (const char* const done : {"moved", "made", "closed", "\n./", ".lock"}) {
    EXPECT_FALSE(has(saw, done)) << saw;
  }
  daemon_->process.kill_daemon();
  ASSERT_EQ(daemon_->start(), "");
  const std::string after =
      this->run("ask " + daemon_->socket() + " /api/sessions/" + attacker_ + "/status");
  EXPECT_TRUE(has(after, "status=200")) << "a session sees the socket of each life: " << after;
}

// A process that takes the daemon's port receives its clients' requests, including the page's key.
TEST_F(Boundary, SEC14_nobody_takes_the_port_while_the_daemon_restarts) {
  const std::string saw = run("grab " + daemon_->socket() + " " + std::to_string(daemon_->port));
  EXPECT_TRUE(has(saw, "held")) << saw;
  EXPECT_EQ(client().get("/healthz").status, 200);
}

// The next session is confined like this one, and starts.
TEST_F(Boundary, PROC4_a_session_cannot_use_up_the_namespaces_of_others) {
  if (geteuid() == 0) GTEST_SKIP() << "an agent that is root has the limits of the machine";
  const std::string saw = run("use_up");
  ASSERT_TRUE(has(saw, "made ")) << saw;
  const std::string next = client().create_session({.agent = "hostile"});
  ASSERT_TRUE(client().prompt({.session = next, .text = "true"}).ok());
  ASSERT_TRUE(until([&] { return client().count(next, "run.completed") == 1; }, 30'000))
      << client().get("/api/sessions/" + next).body;
  EXPECT_EQ(client().get("/api/sessions/" + next).at("session.confinement"), "full");
}

// Changes that would make the data folder visible to the next session.
TEST_F(Boundary, TOK5_the_folders_above_the_data_folder_cannot_be_moved) {
  if (geteuid() == 0) GTEST_SKIP() << "root can undo any mount";
  const fs::path data = daemon_->process.home();
  const std::string saw = attack("mv " + data.parent_path().string() + " " +
                                 data.parent_path().string() + ".x && echo moved; echo over");
  EXPECT_TRUE(has(saw, "over")) << saw;
  EXPECT_FALSE(has(saw, "moved")) << saw;
}

TEST_F(Boundary, TOK6_a_child_cannot_claim_to_belong_to_another_session) {
  const std::string mine = run("claim " + daemon_->socket() + " " + session_ + " /api/sessions/" +
                               session_ + "/transcript");
  EXPECT_FALSE(has(mine, "status=200")) << mine;
}

}  // namespace
}  // namespace perdure
