// Processes are found by their environment in /proc; a zombie has none and counts as gone.
#include "daemon_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string make_folder() {
  const char* const temporary = std::getenv("TMPDIR");
  std::string name = std::string(temporary ? temporary : "/tmp") + "/perdure-test-XXXXXX";
  CHECK(mkdtemp(name.data()) != nullptr);
  for (const char* part : {"/home", "/user", "/agent"}) fs::create_directory(name + part);
  fs::permissions(name + "/home", fs::perms::owner_all);
  return name;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string value_of(const std::string& environment, const std::string& name) {
  const std::string text = std::string(1, '\0') + environment;
  const std::size_t at = text.find(std::string(1, '\0') + name + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find('\0', begin) - begin);
}

ProcessKind kind_of(const std::string& program, const std::string& session) {
  const std::string name = fs::path(program).filename();
  if (name.starts_with("perdure-agentctl")) return ProcessKind::agentctl;
  if (name.starts_with("perdure-testagent")) return ProcessKind::agent;
  if (session.empty()) return ProcessKind::daemon;
  return ProcessKind::other;
}

struct Started {
  const std::vector<std::string>& words;
  const std::vector<std::string>& environment;
};

// Sends stdout and stderr to `output`. Between fork and exec the child calls only functions that
// are safe in a child of a multi-threaded process.
pid_t start_program(const Started& what, int output, int death_signal) {
  std::vector<char*> words;
  for (const std::string& word : what.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<char*> environment;
  for (const std::string& entry : what.environment) {
    environment.push_back(const_cast<char*>(entry.c_str()));
  }
  environment.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, death_signal);
  if (getppid() != parent) _exit(126);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  dup2(output, 1);
  dup2(output, 2);
  execve(words[0], words.data(), environment.data());
  _exit(127);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

bool until(const std::function<bool()>& condition, std::int64_t wait_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(wait_ms);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    poll(nullptr, 0, 5);
  }
  return true;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Reading fails for a process that has just ended: the text is then empty.
  if (file) text << file.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> files_with(const std::string& folder, const std::string& text) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, error)) {
    if (!entry.is_regular_file(error)) continue;
    if (read_text(entry.path()).contains(text)) found.push_back(entry.path());
  }
  return found;
}

ProgramRun run_program(const std::vector<std::string>& words,
                       const std::vector<std::string>& environment) {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = start_program({words, environment}, ends[1], SIGKILL);
  close(ends[1]);
  ProgramRun run;
  char bytes[4096];
  for (ssize_t got = 0; (got = read(ends[0], bytes, sizeof bytes)) > 0;) {
    run.output.append(bytes, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  run.exit_code = code_of(status);
  return run;
}

DaemonProcess::DaemonProcess(DaemonSetup setup) : setup_(std::move(setup)), folder_(make_folder()) {
  write_config();
}

DaemonProcess::~DaemonProcess() {
  if (is_running()) kill_daemon();
  kill_hosted();
  std::error_code none;
  fs::permissions(home(), fs::perms::owner_all, none);
  fs::remove_all(folder_, none);
}

void DaemonProcess::write_config() const {
  std::ofstream file(config_file(), std::ios::trunc);
  if (setup_.config.find("listen") == std::string::npos) file << "listen = '127.0.0.1:0'\n";
  file << setup_.config << "\n";
  for (const TestAgentSetup& agent : setup_.agents) {
    file << "[agents." << agent.name << "]\ncommand = [" << quoted(PERDURE_TESTAGENT)
         << ", '--home', " << quoted(agent_home());
    for (const std::string& each : agent.switches) file << ", '--switch', " << quoted(each);
    file << "]\nnative_session_resume = true\n" << setup_.agent_lines << "\n";
  }
}

std::vector<std::string> DaemonProcess::environment() const {
  const char* const path = std::getenv("PATH");
  std::vector<std::string> out = {std::string("PATH=") + (path ? path : "/usr/bin:/bin"),
                                  "HOME=" + folder_ + "/user", "PERDURE_HOME=" + home(),
                                  "PERDURE_CONFIG=" + config_file(),
                                  "PERDURE_DEMO_HOME=" + folder_ + "/demo"};
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE"}) {
    if (const char* const value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
  }
  out.insert(out.end(), setup_.environment.begin(), setup_.environment.end());
  return out;
}

Result<> DaemonProcess::start() {
  TRY_VOID(spawn());
  return until_ready();
}

Result<> DaemonProcess::spawn() {
  CHECK(!is_running());
  std::vector<std::string> words = {setup_.program, "serve"};
  words.insert(words.end(), setup_.arguments.begin(), setup_.arguments.end());
  const std::string file = folder_ + "/daemon.out";
  const int output = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  pid_ = start_program({words, environment()}, output, SIGKILL);
  close(output);
  if (pid_ > 0) return {};
  return fail(Code::unavailable, std::string("fork: ") + std::strerror(errno));
}

Result<> DaemonProcess::until_ready(std::int64_t wait_ms) {
  const std::unique_ptr<HttpIo> io = HttpIo::create();
  int status = 0;
  bool ended = false;
  const bool ready = until(
      [&] {
        ended = waitpid(pid_, &status, WNOHANG) == pid_;
        if (ended) return true;
        const Result<HttpResponse> answer =
            http_call(*io, endpoint(),
                      {.method = "GET", .target = "/readyz", .headers = {{"Host", "localhost"}}},
                      {.connect_ms = 1'000, .answer_ms = 5'000});
        return answer && answer->status == 200;
      },
      wait_ms);
  if (ended) {
    pid_ = 0;
    return fail(Code::unavailable,
                "the daemon ended with " + std::to_string(code_of(status)) + ":\n" + output());
  }
  if (!ready) return fail(Code::unavailable, "the daemon is not ready:\n" + output());
  return {};
}

void DaemonProcess::signal(int number) const { kill(pid_, number); }

void DaemonProcess::kill_daemon() {
  CHECK(is_running());
  kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
}

int DaemonProcess::stop() {
  CHECK(is_running());
  kill(pid_, SIGTERM);
  return until_exit();
}

int DaemonProcess::until_exit(std::int64_t wait_ms) {
  int status = 0;
  if (!until([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, wait_ms)) return -1;
  pid_ = 0;
  return code_of(status);
}

std::vector<MarkedProcess> DaemonProcess::processes() const {
  std::vector<MarkedProcess> found;
  std::error_code error;
  const std::string mark = folder_ + "/user";
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string environment = read_text(entry.path() / "environ");  // a zombie has none
    if (value_of(environment, "HOME") != mark) continue;
    MarkedProcess process{.pid = std::atoi(name.c_str()),
                          .session = value_of(environment, "PERDURE_SESSION"),
                          .exec = value_of(environment, "PERDURE_EXEC")};
    process.kind = kind_of(fs::read_symlink(entry.path() / "exe", error), process.session);
    found.push_back(std::move(process));
  }
  return found;
}

void DaemonProcess::kill_hosted() const {
  until([this] {
    bool none = true;
    for (const MarkedProcess& process : processes()) {
      if (process.kind == ProcessKind::daemon) continue;
      kill(process.pid, SIGKILL);
      none = false;
    }
    return none;
  });
}

bool DaemonProcess::until_no_hosted(std::int64_t wait_ms) const {
  return until(
      [this] {
        return std::ranges::all_of(processes(), [](const MarkedProcess& process) {
          return process.kind == ProcessKind::daemon;
        });
      },
      wait_ms);
}

std::string DaemonProcess::admin_token() const {
  std::string token = read_text(home() + "/token");
  while (!token.empty() && token.back() == '\n') token.pop_back();
  return token;
}

bool DaemonProcess::had_two_agents() const { return fs::exists(agent_home() + "/violations"); }
std::string DaemonProcess::output() const { return read_text(folder_ + "/daemon.out"); }
std::string DaemonProcess::log() const { return read_text(home() + "/log/perdure.log"); }

}  // namespace perdure
