#include "testing/postgres/postgres_server.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "store/postgres/link/pg_link.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds ready_wait{60};

// The folder of the server's programs; empty if there are none.
std::string programs() {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error)) {
    folders.push_back(version.path().string() + "/bin");
  }
  const char* const path = std::getenv("PATH");
  std::string rest(path == nullptr ? "" : path);
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    folders.push_back(rest.substr(0, colon));
    rest.erase(0, colon + 1);
  }
  for (const std::string& folder : folders) {
    if (::access((folder + "/initdb").c_str(), X_OK) == 0 &&
        ::access((folder + "/postgres").c_str(), X_OK) == 0) {
      return folder;
    }
  }
  return "";
}

// The server refuses to run as root.
const passwd* runner() {
  if (::getuid() != 0) return nullptr;
  for (const char* const name : {"postgres", "nobody"}) {
    if (const passwd* const found = ::getpwnam(name)) return found;
  }
  return nullptr;
}

// Starts a child as the server's user; it ends with this program.
pid_t spawn(const std::vector<std::string>& command, const std::string& log) {
  const passwd* const user = runner();
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (user != nullptr && (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  ::setsid();
  ::execv(words[0], words.data());
  ::_exit(127);
}

}  // namespace

std::string PostgresServer::missing() {
  if (programs().empty()) return "PostgreSQL's initdb is not installed";
  if (::getuid() == 0 && runner() == nullptr) return "no user but root is there to run PostgreSQL";
  return "";
}

PostgresServer& PostgresServer::shared() {
  static const std::unique_ptr<PostgresServer> server = [] {
    Result<std::unique_ptr<PostgresServer>> started = start(Sync::off);
    CHECK(started.has_value(), started ? "" : started.error().message());
    return *std::move(started);
  }();
  return *server;
}

Result<std::unique_ptr<PostgresServer>> PostgresServer::start(Sync sync) {
  if (const std::string reason = missing(); !reason.empty()) {
    return fail(Code::unavailable, reason);
  }
  std::string pattern = (fs::temp_directory_path() / "perdure_pg_XXXXXX").string();
  CHECK(::mkdtemp(pattern.data()) != nullptr);
  if (const passwd* const user = runner()) {
    CHECK(::chown(pattern.c_str(), user->pw_uid, user->pw_gid) == 0);
  }
  std::unique_ptr<PostgresServer> server(new PostgresServer(pattern));
  server->sync_ = sync;
  TRY_VOID(server->initialise());
  TRY_VOID(server->launch());
  return server;
}

Result<> PostgresServer::initialise() {
  const pid_t pid = spawn({programs() + "/initdb", "-D", folder_ + "/data", "-U", "perdure", "-A",
                           "trust", "--no-sync", "-E", "UTF8", "--locale=C"},
                          folder_ + "/log");
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status == 0) return {};
  return fail(Code::unavailable, "initdb failed; see " + folder_ + "/log");
}

Result<> PostgresServer::launch() {
  const std::string synced = sync_ == Sync::on ? "fsync=on" : "fsync=off";
  pid_ = spawn({programs() + "/postgres", "-D", folder_ + "/data", "-k", folder_, "-p", "5432",
                "-c", "listen_addresses=", "-c", synced, "-c", "max_connections=60", "-c",
                "shared_buffers=32MB", "-c", "restart_after_crash=on"},
               folder_ + "/log");
  return wait_ready();
}

Result<> PostgresServer::wait_ready() {
  const Clock::time_point deadline = Clock::now() + ready_wait;
  const std::string place = "host=" + folder_ + " port=5432 dbname=postgres user=perdure";
  while (Clock::now() < deadline) {
    if (PgLink::open(place, {.connect = std::chrono::milliseconds(1000)})) return {};
    int status = 0;
    // After a crash the previous server's shared memory may still be in use briefly.
    if (::waitpid(pid_, &status, WNOHANG) == pid_) return launch();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return fail(Code::unavailable, "PostgreSQL does not start; see " + folder_ + "/log");
}

PostgresServer::~PostgresServer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGQUIT);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string PostgresServer::new_database() {
  const std::string name = "t" + std::to_string(++databases_);
  const auto link = PgLink::open("host=" + folder_ + " port=5432 dbname=postgres user=perdure", {});
  CHECK(link.has_value(), link ? "" : link.error().message());
  const auto made = (*link)->script("CREATE DATABASE " + name);
  CHECK(made.has_value(), made ? "" : made.error().message);
  return "postgres://perdure@/" + name + "?host=" + folder_ + "&port=5432";
}

std::string PostgresServer::through_port(const std::string& place, int port) {
  return place.substr(0, place.find("?host=")) + "?host=127.0.0.1&port=" + std::to_string(port) +
         "&sslmode=disable";
}

std::string PostgresServer::tables_with(const std::string& place, const std::string& text) {
  const auto link = PgLink::open(place, {});
  CHECK(link.has_value(), link ? "" : link.error().message());
  // As text, a table's row shows bytes as hexadecimal digits.
  constexpr const char* sql = R"(
SELECT coalesce(string_agg(found.name || E'\n', ''), '') FROM (
  SELECT c.relname AS name, (xpath('/row/n/text()', query_to_xml(format(
    'SELECT count(*) AS n FROM perdure.%I t
     WHERE strpos(t::text, %L) > 0 OR strpos(t::text, %L) > 0',
    c.relname, $1, encode(convert_to($1, 'UTF8'), 'hex')), false, true, '')))[1]::text AS rows
  FROM pg_class c WHERE c.relnamespace = 'perdure'::regnamespace AND c.relkind = 'r') found
WHERE found.rows <> '0')";
  const auto rows = (*link)->run({"tables_with", sql}, PgParams().text(text));
  CHECK(rows.has_value(), rows ? "" : rows.error().message);
  return std::string(rows->bytes({}));
}

void PostgresServer::kill_hard() {
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
}

Result<> PostgresServer::start_again() { return launch(); }

}  // namespace perdure
