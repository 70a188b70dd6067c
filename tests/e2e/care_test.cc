// The daemon maintains itself and its data while it serves: limits of sessions, restarts, backups,
// a missing folder, verification and leftovers.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon_test.h"
#include "env/posix/confine/limit_group.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

class Care : public DaemonTest {
 protected:
  std::string record(const std::string& session, std::string_view kind) {
    for (const std::string& each : client_->records(session)) {
      if (json_at(each, "kind") == kind) return each;
    }
    return {};
  }
  std::string waiting_session() {
    const std::string session = client_->create_session({});
    EXPECT_TRUE(client_->prompt({.session = session, .text = "say 2; permission 1; say 1"}).ok());
    EXPECT_TRUE(until_count(session, "run.waiting", 1));
    return session;
  }
  // Answers its question and waits for the end.
  void let_go(const std::string& session) {
    const std::string permission = json_at(record(session, "permission.requested"), "perm_id");
    const ApiReply answered =
        client_->post("/api/permissions/" + permission, R"({"option_id":"allow_once"})");
    EXPECT_TRUE(answered.ok()) << answered.body;
    EXPECT_TRUE(until_count(session, "run.completed", 1));
  }
  std::string boot() { return client_->get("/api/daemon").at("boot_id"); }
  ProgramRun run(const std::vector<std::string>& words) {
    std::vector<std::string> all = {daemon_->setup().program};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, daemon_->environment());
  }
};

TEST_F(Care, G8_a_turn_longer_than_its_limit_has_failed_and_the_session_goes_on) {
  begin({.config = "[limits]\nrun_ms = 1000\n"});
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1; hang"}).ok());
  ASSERT_TRUE(until_count(session, "run.failed", 1));
  EXPECT_EQ(json_at(record(session, "run.failed"), "code"), "run_time_limit");
  EXPECT_EQ(client_->count(session, "run.cancelled"), 0u);
  // The time a person takes to answer does not count towards the turn's limit.
  const std::string asking = client_->create_session({.more = R"("limits":{"run_ms":2000})"});
  ASSERT_TRUE(client_->prompt({.session = asking, .text = "permission 1; say 1"}).ok());
  ASSERT_TRUE(until_count(asking, "run.waiting", 1));
  const std::string other = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = other, .text = "hang"}).ok());
  ASSERT_TRUE(until_count(other, "run.failed", 1));
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  let_go(asking);
}

TEST_F(Care, G8_P1_an_agent_at_its_limit_of_memory_is_said_to_be_out_of_memory) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
  begin({.config = "[agents.hungry]\ncommand = ['/usr/bin/python3', '" PERDURE_E2E
                   "/hungry_agent.py']\n"});
  const ApiReply refused =
      client_->post("/api/sessions", R"({"agent":"hungry","limits":{"memory_bytes":5}})");
  EXPECT_EQ(refused.status, 400) << refused.body;
  const ApiReply made = client_->post(
      "/api/sessions", R"({"agent":"hungry","limits":{"memory_bytes":67108864,"processes":32}})");
  const Result<> can = LimitGroup::probe({.memory_bytes = 64UL << 20, .processes = 32});
  if (!can) {
    EXPECT_EQ(made.status, 503) << "no limit is passed over in silence";
    GTEST_SKIP() << can.error().message();
  }
  ASSERT_TRUE(made.ok()) << made.body;
  const std::string session = made.at("session.id");
  ASSERT_TRUE(client_->prompt({.session = session, .text = "eat"}).ok());
  ASSERT_TRUE(until_count(session, "run.failed", 1));
  const std::string failed = record(session, "run.failed");
  EXPECT_EQ(json_at(failed, "code"), "out_of_memory") << failed;
  EXPECT_NE(json_at(failed, "message").find("64 MiB"), std::string::npos) << failed;
  ASSERT_TRUE(until_count(session, "agent.exited", 1));
  EXPECT_EQ(json_at(record(session, "agent.exited"), "why"), "out_of_memory");
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
  EXPECT_EQ(field(session, "error_code"), "out_of_memory");
  EXPECT_NE(field(session, "error_message").find("64 MiB"), std::string::npos);
  EXPECT_EQ(field(session, "last_run.code"), "out_of_memory");
  EXPECT_EQ(field(session, "stop_reason"), "agent_crashed");
  EXPECT_EQ(field(session, "is_resumable"), "true");
}

// docs/decisions/0008: the cut part was never acknowledged, so the store reports it, and no session
// does.
TEST_F(Care, C20_S2_a_torn_end_that_was_cut_is_said_in_the_log_and_by_verify) {
  begin({.arguments = {"--store", "files"}});
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 2"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  const std::vector<std::string> before = client_->records(session);
  EXPECT_EQ(daemon_->log().find("was cut"), std::string::npos);
  daemon_->kill_daemon();
  daemon_->kill_hosted();
  std::vector<fs::path> segments;
  for (const auto& entry : fs::directory_iterator(daemon_->home() + "/commits")) {
    segments.push_back(entry.path());
  }
  ASSERT_FALSE(segments.empty());
  std::ofstream(*std::ranges::max_element(segments), std::ios::app) << std::string(5000, '\0');
  const Result<> started = daemon_->start();
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_NE(daemon_->log().find("5000 bytes of zeros) is not a complete group and was cut"),
            std::string::npos)
      << daemon_->log();
  const std::vector<std::string> after = client_->records(session);
  ASSERT_GE(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i]);
  EXPECT_EQ(client_->count(session, "repair.truncated"), 0u) << "the session lost nothing";
  const ProgramRun verified = run({"verify"});
  EXPECT_NE(verified.output.find("is not a complete group and was cut"), std::string::npos)
      << verified.output;
}

TEST_F(Care, C20_S7_a_start_refused_for_a_decayed_log_names_the_verb_that_salvages_it) {
  begin({});
  const std::string first = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = first, .text = "say 2"}).ok());
  ASSERT_TRUE(until_count(first, "run.completed", 1));
  const std::string hit = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = hit, .text = "say 1; remember-the-zebra"}).ok());
  ASSERT_TRUE(until_count(hit, "run.completed", 1));
  const std::string last = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = last, .text = "say 2"}).ok());
  ASSERT_TRUE(until_count(last, "run.completed", 1));
  const std::size_t records = client_->records(last).size();
  daemon_->kill_daemon();
  daemon_->kill_hosted();

  const std::string wal = daemon_->home() + "/perdure.db-wal";
  std::string bytes = read_text(wal);
  std::size_t flips = 0;
  for (std::size_t at = 0; (at = bytes.find("remember-the-zebra", at)) != std::string::npos;) {
    bytes[at] = 'R';
    ++flips;
  }
  ASSERT_GT(flips, 0u);
  std::ofstream(wal, std::ios::binary) << bytes;
  const Result<> refused = daemon_->start();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message().contains("perdure store salvage")) << daemon_->output();
  EXPECT_EQ(run({"store", "salvage"}).exit_code, 2) << "nobody is there to ask";
  EXPECT_TRUE(read_text(wal) == bytes);

  const ProgramRun salvaged = run({"store", "salvage", "--yes"});
  EXPECT_EQ(salvaged.exit_code, 1) << "a session has lost records";
  EXPECT_TRUE(salvaged.output.contains("the damaged log is kept: " + wal + ".damaged"))
      << salvaged.output;
  EXPECT_TRUE(salvaged.output.contains("damaged: " + hit + " is good up to record"))
      << salvaged.output;
  EXPECT_TRUE(read_text(wal + ".damaged").contains("Remember-the-zebra"));
  const Result<> started = daemon_->start();
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_GE(client_->records(last).size(), records);
  EXPECT_EQ(client_->count(first, "run.completed"), 1u);
}

TEST_F(Care, P15_a_subagent_that_dies_with_its_agent_is_reported_as_lost) {
  begin();
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  const std::string update =
      R"(raw {\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\")" +
      field(session, "agent_session_id") +
      R"(\",\"update\":{\"sessionUpdate\":\"subagent_update\",\"sessionId\":\"c1\",)"
      R"(\"title\":\"Explore\",\"state\":{\"state\":\"running\"}}}})";
  const ApiReply sent =
      client_->post("/api/sessions/" + session + "/prompt", R"({"text":")" + update + R"("})");
  ASSERT_TRUE(sent.ok()) << sent.body;
  ASSERT_TRUE(until_count(session, "run.completed", 2));
  ASSERT_TRUE(client_->post("/api/sessions/" + session + "/stop").ok());
  ASSERT_TRUE(until_count(session, "agent.exited", 1));
  const std::string tail = json_at(record(session, "agent.exited"), "stderr_tail");
  EXPECT_NE(tail.find("lost with it"), std::string::npos) << tail;
  EXPECT_NE(tail.find("subagent Explore"), std::string::npos) << tail;
}

TEST_F(Care, G8_doctor_says_whether_sessions_can_be_limited) {
  begin();
  const ProgramRun doctor = run({"doctor"});
  EXPECT_NE(doctor.output.find("session limits"), std::string::npos) << doctor.output;
}

TEST_F(Care, D6_D8_a_restart_takes_the_program_that_is_there_and_agents_go_on) {
  DaemonSetup setup;
  daemon_ = std::make_unique<DaemonProcess>(setup);
  const std::string folder = daemon_->folder() + "/bin";
  fs::create_directory(folder);
  for (const char* program : {PERDURE_PROGRAM, PERDURE_AGENTCTL}) fs::copy(program, folder);
  daemon_->setup().program = folder + "/perdure";
  const Result<> started = daemon_->start();
  ASSERT_TRUE(started) << started.error().message();
  client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  const std::string session = waiting_session();
  // Another build: other bytes, another file.
  fs::copy(PERDURE_PROGRAM, folder + "/perdure.new");
  std::ofstream(folder + "/perdure.new", std::ios::app | std::ios::binary) << "another build";
  fs::rename(folder + "/perdure.new", folder + "/perdure");
  struct stat wanted{};
  ASSERT_EQ(stat((folder + "/perdure").c_str(), &wanted), 0);
  const std::string before = boot();
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(until([&] { return client_->post("/api/restart").status == 202; }));
  ASSERT_TRUE(until([&] {
    const std::string now = boot();
    return !now.empty() && now != before;
  }));
  EXPECT_TRUE(daemon_->is_running());
  struct stat running{};
  ASSERT_EQ(stat(("/proc/" + std::to_string(daemon_->pid()) + "/exe").c_str(), &running), 0);
  EXPECT_EQ(running.st_ino, wanted.st_ino) << "the same process, the new program";
  EXPECT_EQ(field(session, "status"), "waiting");
  let_go(session);
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
}

TEST_F(Care, D6_the_verb_waits_for_the_next_life) {
  begin();
  const std::string before = boot();
  ProgramRun restarted;
  ASSERT_TRUE(until([&] {
    restarted = run({"restart"});
    return restarted.exit_code == 0;
  })) << restarted.output;
  EXPECT_NE(boot(), before);
}

TEST_F(Care, D6_a_restart_asked_for_from_inside_a_session_finishes_and_the_session_goes_on) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
  begin({.config = "[agents.inside]\ncommand = ['/usr/bin/python3', '" PERDURE_E2E
                   "/../security/hostile_agent.py']\n"});
  const std::string before = boot();
  const std::string session = client_->create_session({.agent = "inside"});
  const std::string restart =
      "PERDURE_HOME=" + daemon_->home() + " " + daemon_->setup().program + " restart";
  // A daemon that has just started rejects a restart with an error that says to retry.
  const std::string loop = "for i in $(seq 100); do " + restart + " && break; sleep 0.1; done";
  ASSERT_TRUE(client_->prompt({.session = session, .text = loop}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  const std::string said = json_at(record(session, "message.agent"), "text");
  EXPECT_NE(said.find("restarted"), std::string::npos) << said;
  EXPECT_NE(boot(), before);
  EXPECT_EQ(client_->count(session, "executor.reattached"), 1u);
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
}

TEST_F(Care, N11_a_held_queue_is_shown_in_the_list) {
  begin();
  const std::string session = client_->create_session({.more = R"("title":"cider")"});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 1; hang"}).ok());
  ASSERT_TRUE(until_count(session, "message.agent", 1));
  ASSERT_TRUE(client_->prompt({.session = session, .text = "later"}).ok());
  ASSERT_TRUE(client_->post("/api/sessions/" + session + "/stop").ok());
  ASSERT_TRUE(until([&] { return field(session, "queue_held") == "true"; }));
  for (const std::string& row : json_list(client_->get("/api/sessions").body, "sessions")) {
    if (json_at(row, "id") == session) EXPECT_EQ(json_at(row, "queue_held"), "true") << row;
  }
  const ProgramRun listed = run({"ls"});
  EXPECT_NE(listed.output.find("held"), std::string::npos) << listed.output;
}

TEST_F(Care, X17_a_copy_of_the_data_folder_leaves_the_originals_agents_alone) {
  begin();
  const std::string session = waiting_session();
  DaemonProcess copy;
  fs::remove_all(copy.home());
  ASSERT_EQ(run_program({"/bin/cp", "-a", daemon_->home(), copy.home()}, {"PATH=/bin"}).exit_code,
            0);
  ASSERT_TRUE(copy.start()) << copy.output();
  ApiClient there(copy.endpoint());
  ASSERT_TRUE(until([&] {
    return there.get("/api/sessions/" + session).at("session.status") == "interrupted_waiting";
  }));
  // It now belongs to the copy, with its own agent, next to the original.
  ASSERT_TRUE(there.prompt({.session = session, .text = "say 1"}).ok());
  there.post("/api/sessions/" + session + "/resume");
  EXPECT_TRUE(until([&] { return there.count(session, "run.completed") >= 1; }));
  EXPECT_EQ(field(session, "status"), "waiting") << "the original's agent was ended";
  let_go(session);
  EXPECT_EQ(client_->count(session, "run.interrupted"), 0u);
}

TEST_F(Care, S12_a_data_folder_that_is_taken_away_acknowledges_nothing_until_it_is_back) {
  begin();
  const std::string session = client_->create_session({});
  ASSERT_FALSE(session.empty());
  const std::string away = daemon_->folder() + "/away";
  fs::rename(daemon_->home(), away);
  ApiClient moved({.unix_folder = away + "/run", .unix_name = "perdure.sock"});
  const ApiReply refused = moved.prompt({.session = session, .text = "say 1"});
  EXPECT_EQ(refused.status, 507) << refused.body;
  EXPECT_TRUE(moved.get("/api/sessions/" + session).ok()) << "what is there can be read";
  EXPECT_FALSE(fs::exists(daemon_->home())) << "nothing is made in its place";
  fs::rename(away, daemon_->home());
  EXPECT_TRUE(until([&] { return client_->prompt({.session = session, .text = "say 1"}).ok(); }));
  EXPECT_TRUE(until_count(session, "run.completed", 1));
}

TEST_F(Care, S12_a_data_folder_that_becomes_read_only_is_refused_with_its_reason) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to mount";
  daemon_ = std::make_unique<DaemonProcess>();
  const std::string home = daemon_->home();
  const std::vector<std::string> path = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  fs::create_directories(home);
  const ProgramRun mounted =
      run_program({"/bin/mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", home}, path);
  if (mounted.exit_code != 0) GTEST_SKIP() << "no mount: " << mounted.output;
  const Result<> started = daemon_->start();
  if (!started) run_program({"/bin/umount", "-l", home}, path);
  ASSERT_TRUE(started) << started.error().message();
  client_ = std::make_unique<ApiClient>(daemon_->endpoint());
  const std::string session = client_->create_session({});
  ASSERT_EQ(daemon_->stop(), 0);
  EXPECT_EQ(run_program({"/bin/mount", "-o", "remount,ro", home}, path).exit_code, 0);
  const Result<> again = daemon_->start();
  EXPECT_FALSE(again);
  if (!again) {
    EXPECT_NE(again.error().message().find(home), std::string::npos) << again.error().message();
  }
  EXPECT_EQ(run_program({"/bin/mount", "-o", "remount,rw", home}, path).exit_code, 0);
  EXPECT_TRUE(daemon_->start()) << daemon_->output();
  EXPECT_TRUE(client_->get("/api/sessions/" + session).ok());
  daemon_->stop();
  daemon_->kill_hosted();
  run_program({"/bin/umount", "-l", home}, path);
}

TEST_F(Care, U11_a_deletion_takes_the_folder_that_we_made_and_never_a_users) {
  begin();
  const std::string cwd = daemon_->folder() + "/work";
  fs::create_directory(cwd);
  const std::string made = client_->create_session({});
  const std::string bound = client_->create_session({.more = R"("cwd":")" + cwd + "\""});
  const std::string folder = field(made, "cwd");
  ASSERT_TRUE(fs::exists(folder)) << folder;
  std::ofstream(folder + "/file") << "of the agent";
  for (const std::string& session : {made, bound}) {
    const ApiReply deleted = client_->call(
        {.method = "DELETE", .path = "/api/sessions/" + session + "?confirm=true&force=1"});
    EXPECT_TRUE(deleted.ok()) << deleted.body;
  }
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(cwd));
}

TEST_F(Care, S11_verify_and_gc_work_while_the_daemon_serves) {
  begin();
  const std::string session = client_->create_session({});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 3"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  const ProgramRun verified = run({"verify", "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  EXPECT_NE(verified.output.find("\"records\""), std::string::npos) << verified.output;
  // An old one that no session owns, and a new one whose session may not be in the journal yet.
  const std::string workspaces = daemon_->home() + "/workspaces";
  const std::string old = workspaces + "/session_sess_00000000000000000000000001";
  fs::create_directory(old);
  const std::string young = workspaces + "/session_sess_7zzzzzzzzzzzzzzzzzzzzzzzzz";
  fs::create_directory(young);
  const ProgramRun look = run({"gc", "--dry-run"});
  EXPECT_EQ(look.exit_code, 0) << look.output;
  EXPECT_NE(look.output.find(old), std::string::npos) << look.output;
  EXPECT_TRUE(fs::exists(old));
  const ProgramRun took = run({"gc", "--yes"});
  EXPECT_EQ(took.exit_code, 0) << took.output;
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(field(session, "cwd")));
}

TEST_F(Care, A23_a_message_of_many_chunks_is_found_by_its_words) {
  begin();
  const std::string session = client_->create_session({.more = R"("title":"cider")"});
  ASSERT_TRUE(client_->prompt({.session = session, .text = "say 3"}).ok());
  ASSERT_TRUE(until_count(session, "run.completed", 1));
  EXPECT_TRUE(until([&] {
    return client_->get("/api/search?q=say&kind=message.user").body.find(session) !=
           std::string::npos;
  }));
  const std::string hit = json_list(client_->get("/api/search?q=cider").body, "hits").at(0);
  EXPECT_EQ(json_at(hit, "kind"), "session.created");
  EXPECT_EQ(json_at(hit, "seq"), "1");
  EXPECT_TRUE(json_list(client_->get("/api/search?q=cider&agent=other").body, "hits").empty());
}

}  // namespace
}  // namespace perdure
