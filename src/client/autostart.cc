#include "client/autostart.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"

extern "C" char** environ;

namespace perdure::client {
namespace {

constexpr int poll_ms = 50;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::unexpected<Error> failed(const std::string& doing) {
  return fail(Code::unavailable, doing + ": " + std::strerror(errno));
}

std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Result<> make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return failed("make " + part);
    if (slash == std::string::npos) return {};
  }
}

std::string tail_of(int memory_file) {
  std::string text(stderr_tail_bytes, '\0');
  const off_t end = ::lseek(memory_file, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, end - static_cast<off_t>(text.size()));
  const ssize_t got = ::pread(memory_file, text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return utf8_scrub(text);
}

// The same environment, with this client's data folder.
std::vector<std::string> child_environment(const std::string& data_folder) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("PERDURE_HOME=")) out.emplace_back(*entry);
  }
  out.push_back("PERDURE_HOME=" + data_folder);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

Result<pid_t> spawn(const StartRequest& request, int error_file) {
  std::vector<std::string> words = {"perdure"};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> variables = child_environment(request.data_folder);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, error_file, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A new process session: a Ctrl-C for this command does not reach the daemon.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = 0;
  const int error = posix_spawn(&child, request.program.c_str(), &actions, &attributes,
                                pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    errno = error;
    return failed("start the daemon");
  }
  return child;
}

Result<> start(const StartRequest& request, std::int64_t deadline_ms) {
  const Descriptor errors(::memfd_create("perdure-start", MFD_CLOEXEC));
  if (errors.get() < 0) return failed("make room for the daemon's messages");
  const pid_t child = TRY(spawn(request, errors.get()));
  const Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  pollfd wait{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  while (pidfd.get() >= 0 && now_ms() < deadline_ms) {
    if (::poll(&wait, 1, static_cast<int>(deadline_ms - now_ms())) > 0) break;
  }
  int status = 0;
  if (::waitpid(child, &status, pidfd.get() >= 0 ? WNOHANG : 0) != child) {
    // The child continues: it may be ready later, and only it knows its progress.
    return fail(Code::unavailable, "the daemon is still starting; try again in a moment");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string said = tail_of(errors.get());
  return fail(Code::unavailable, "the daemon did not start: " +
                                     (said.empty() ? std::string("it said nothing") : said));
}

}  // namespace

Result<StartOutcome> ensure_daemon(const StartRequest& request,
                                   const std::function<bool()>& is_there) {
  if (is_there()) return StartOutcome::was_there;
  const std::int64_t deadline_ms =
      now_ms() + (request.ready_ms > 0 ? request.ready_ms : daemon_ready_ms);
  // Next to the part of the data folder that sessions see, so that a process in a session cannot
  // hold the lock.
  const std::string& folder = request.data_folder;
  TRY_VOID(make_folders(folder));
  const Descriptor lock(
      ::open((folder + "/start.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0) return failed("open " + folder + "/start.lock");
  bool has_waited = false;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return failed("lock " + folder + "/start.lock");
    if (now_ms() >= deadline_ms) {
      return fail(Code::unavailable, "another command has been starting the daemon for too long");
    }
    has_waited = true;
    ::poll(nullptr, 0, poll_ms);
  }
  if (is_there()) return has_waited ? StartOutcome::waited : StartOutcome::was_there;
  TRY_VOID(start(request, deadline_ms));
  while (!is_there()) {
    if (now_ms() >= deadline_ms) {
      return fail(Code::unavailable, "the daemon was started and does not answer");
    }
    ::poll(nullptr, 0, poll_ms);
  }
  return StartOutcome::started;
}

}  // namespace perdure::client
