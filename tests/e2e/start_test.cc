// How the daemon starts: on an occupied port, with all data archived, and whether it serves what
// the contract promises.
#include <csignal>
#include <cstddef>
#include <filesystem>

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_client.h"
#include "daemon_process.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

std::string port_of(const DaemonProcess& daemon) {
  std::string port;
  until([&] {
    const std::string output = daemon.output();
    const std::string before = "http://127.0.0.1:";
    const std::size_t at = output.rfind(before);
    if (at == std::string::npos) return false;
    port = output.substr(at + before.size());
    port.resize(port.find_first_not_of("0123456789"));
    return true;
  });
  return port;
}

TEST(Start, D5_a_port_in_use_is_named_and_the_other_daemon_goes_on) {
  DaemonProcess first;
  ASSERT_TRUE(first.start());
  const std::string port = port_of(first);
  ASSERT_FALSE(port.empty());
  DaemonProcess second({.config = "listen = '127.0.0.1:" + port + "'"});
  const Result<> started = second.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message().find(port), std::string::npos) << started.error().message();
  EXPECT_NE(started.error().message().find("in use"), std::string::npos)
      << started.error().message();
  EXPECT_TRUE(ApiClient(first.endpoint()).get("/readyz").ok());
}

TEST(Start, D5_the_socket_of_a_dead_daemon_is_replaced_and_one_of_the_living_is_not) {
  DaemonProcess daemon;
  ASSERT_TRUE(daemon.start());
  const std::string socket = daemon.home() + "/run/perdure.sock";
  const ProgramRun again = run_program({daemon.setup().program, "serve"}, daemon.environment());
  EXPECT_EQ(again.exit_code, 4) << again.output;
  EXPECT_TRUE(ApiClient(daemon.endpoint()).get("/readyz").ok());
  daemon.kill_daemon();
  ASSERT_TRUE(fs::exists(socket));
  EXPECT_TRUE(daemon.start());
}

// A service's output is in a journal that others may read.
TEST(Start, a_service_manager_is_told_and_no_key_is_in_its_journal) {
  const std::string name = "perdure-start-test-" + std::to_string(getpid());
  const int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(bind(manager, reinterpret_cast<const sockaddr*>(&address), size), 0);
  DaemonProcess service({.environment = {"NOTIFY_SOCKET=@" + name}});
  ASSERT_TRUE(service.start());
  char told[64] = {};
  ASSERT_GT(recv(manager, told, sizeof told - 1, 0), 0);
  EXPECT_STREQ(told, "READY=1");
  EXPECT_TRUE(until([&] { return service.output().contains("perdure open"); }));
  EXPECT_FALSE(service.output().contains("launch=")) << service.output();
  close(manager);
}

// docker logs, nohup and supervisord store everything written to a pipe or to files.
TEST(Start, SEC14_a_launch_token_is_written_to_a_terminal_only) {
  DaemonProcess piped;
  ASSERT_TRUE(piped.start());
  EXPECT_TRUE(until([&] { return piped.output().contains("perdure open"); }));
  EXPECT_FALSE(piped.output().contains("launch=")) << piped.output();

  DaemonProcess by_hand;
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    std::vector<std::string> words = by_hand.environment();
    std::vector<char*> environment;
    for (std::string& word : words) environment.push_back(word.data());
    environment.push_back(nullptr);
    execle(PERDURE_PROGRAM, "perdure", "serve", nullptr, environment.data());
    _exit(127);
  }
  std::string output;
  char bytes[4096];
  while (!output.contains("launch=")) {
    const ssize_t got = read(terminal, bytes, sizeof bytes);
    if (got <= 0) break;
    output.append(bytes, static_cast<std::size_t>(got));
  }
  EXPECT_TRUE(output.contains("launch=")) << output;
  kill(pid, SIGTERM);
  while (read(terminal, bytes, sizeof bytes) > 0) {}
  waitpid(pid, nullptr, 0);
  close(terminal);
}

TEST(Start, U12_a_clean_start_puts_everything_aside_and_destroys_nothing) {
  DaemonProcess daemon;
  ASSERT_TRUE(daemon.start());
  ApiClient client(daemon.endpoint());
  const std::string session = client.create_session({});
  ASSERT_TRUE(client.prompt({.session = session, .text = "remember-the-zebra"}).ok());
  ASSERT_TRUE(until([&] { return client.count(session, "run.completed") == 1; }));
  const std::string token = daemon.admin_token();
  ASSERT_EQ(daemon.stop(), 0);
  daemon.setup().arguments = {"--clean-start"};
  const Result<> started = daemon.start();
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_EQ(client.get("/api/sessions").at("sessions"), "[]");
  EXPECT_EQ(daemon.admin_token(), token);
  EXPECT_TRUE(daemon.until_no_hosted());
  bool is_kept = false;
  for (const auto& entry : fs::recursive_directory_iterator(daemon.home() + "/archive")) {
    if (!entry.is_regular_file()) continue;
    is_kept = is_kept || read_text(entry.path()).find("remember-the-zebra") != std::string::npos;
  }
  EXPECT_TRUE(is_kept);
}

TEST(Start, S7_U12_a_first_start_that_was_cut_off_is_begun_again) {
  DaemonProcess daemon;
  // No journal can be created there.
  fs::create_directories(daemon.home() + "/perdure.db");
  fs::permissions(daemon.home(), fs::perms::owner_all);
  ASSERT_FALSE(daemon.start());
  fs::remove(daemon.home() + "/perdure.db");
  const Result<> started = daemon.start();
  ASSERT_TRUE(started) << started.error().message();
  ASSERT_EQ(daemon.stop(), 0);

  // Left by a version that wrote its key first; a clean start removes it.
  fs::remove(daemon.home() + "/perdure.db");
  for (const char* const tail : {"-wal", "-shm", ".reserve"}) {
    fs::remove(daemon.home() + "/perdure.db" + tail);
  }
  ASSERT_FALSE(daemon.start());
  daemon.setup().arguments = {"--clean-start"};
  const Result<> clean = daemon.start();
  EXPECT_TRUE(clean) << clean.error().message();
}

// Scripts rely on these; the list only ever grows.
constexpr const char* contract_fields[] = {"id",
                                           "task_id",
                                           "title",
                                           "status",
                                           "state",
                                           "executor_status",
                                           "liveness",
                                           "context",
                                           "stop_reason",
                                           "needs_resume",
                                           "is_resumable",
                                           "resume_reason",
                                           "pending",
                                           "queue",
                                           "error_message",
                                           "active",
                                           "connections",
                                           "active_runs",
                                           "agent_session_id",
                                           "acp_caps",
                                           "metadata",
                                           "runtime",
                                           "is_agent_running",
                                           "worktree_path",
                                           "worktree_branch"};
constexpr const char* contract_paths[] = {"/healthz",
                                          "/readyz",
                                          "/metrics",
                                          "/openapi.json",
                                          "/api/tasks",
                                          "/api/tasks/{id}",
                                          "/api/sessions",
                                          "/api/sessions/{id}",
                                          "/api/sessions/{id}/status",
                                          "/api/sessions/{id}/resume",
                                          "/api/sessions/{id}/prompt",
                                          "/api/sessions/{id}/cancel",
                                          "/api/sessions/{id}/stop",
                                          "/api/sessions/{id}/archive",
                                          "/api/sessions/{id}/fork",
                                          "/api/sessions/{id}/repair",
                                          "/api/sessions/{id}/events",
                                          "/api/sessions/{id}/history",
                                          "/api/sessions/{id}/transcript",
                                          "/api/stream",
                                          "/api/inbox",
                                          "/api/permissions/{id}",
                                          "/api/waits/{token_id}",
                                          "/api/waits/{token_id}/secret",
                                          "/api/tokens",
                                          "/api/tokens/{id}",
                                          "/api/sessions/{id}/queue/{item}",
                                          "/api/sessions/{id}/options",
                                          "/api/executors",
                                          "/api/login",
                                          "/api/ticket",
                                          "/api/sessions/{id}/rows",
                                          "/api/sessions/{id}/at",
                                          "/api/sessions/{id}/density",
                                          "/api/sessions/{id}/delete-preview",
                                          "/api/sessions/{id}/unarchive",
                                          "/api/sessions/{id}/redact",
                                          "/api/sessions/{id}/export",
                                          "/api/import",
                                          "/api/rules",
                                          "/api/search",
                                          "/api/agents",
                                          "/api/sessions/{id}/shell",
                                          "/ws",
                                          "/api/v1/ops/sessions/{id}"};

TEST(Start, O29_the_fields_and_routes_of_the_contract_are_served) {
  DaemonProcess daemon;
  ASSERT_TRUE(daemon.start());
  ApiClient client(daemon.endpoint());
  const std::string session = client.create_session({});
  const ApiReply one = client.get("/api/sessions/" + session);
  const Result<JsonObject> served = JsonObject::parse(json_at(one.body, "session"));
  ASSERT_TRUE(served);
  for (const char* name : contract_fields) { EXPECT_FALSE(served->find(name).empty()) << name; }
  const std::string document = client.get("/openapi.json").body;
  const Result<JsonObject> paths = JsonObject::parse(json_at(document, "paths"));
  ASSERT_TRUE(paths);
  for (const char* path : contract_paths) { EXPECT_FALSE(paths->find(path).empty()) << path; }
}

}  // namespace
}  // namespace perdure
