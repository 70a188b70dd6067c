#include "testing/agent/cli/agent_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <optional>
#include <variant>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure::testagent {
namespace {

constexpr std::size_t pipe_atomic_bytes = 4096;  // a writable pipe takes this much without blocking
constexpr std::int64_t last_words_ms = 200;

[[noreturn]] void die_by(int number) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  _exit(128 + number);
}

class Pump {
 public:
  explicit Pump(TestAgent& agent) : agent_(agent) {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaddset(&term, SIGCHLD);
    signals_ = signalfd(-1, &term, SFD_CLOEXEC | SFD_NONBLOCK);
    CHECK(signals_ >= 0);
  }

  int run() {
    while (true) {
      if (acts_.empty()) agent_.tick(steady_wall_ms());
      for (Act& act : agent_.take_acts()) acts_.push_back(std::move(act));
      if (const auto code = do_acts()) return *code;
      wait();
    }
  }

 private:
  struct Waiting {
    int descriptor = -1;
    std::string* bytes = nullptr;
  };

  // The next write, if any.
  Waiting first_write() {
    if (acts_.empty()) return {};
    if (auto* out = std::get_if<WriteStdout>(&acts_.front())) return {STDOUT_FILENO, &out->bytes};
    if (auto* err = std::get_if<WriteStderr>(&acts_.front())) return {STDERR_FILENO, &err->bytes};
    return {};
  }

  // Returns the exit code when the process should end.
  std::optional<int> do_acts() {
    while (!acts_.empty()) {
      if (const Waiting write = first_write(); write.bytes) {
        const bool gives_up = last_words_until_ && steady_wall_ms() > *last_words_until_;
        if (!gives_up && !write_some(write)) return std::nullopt;
        if (!gives_up && !write.bytes->empty()) continue;
        written_ = 0;
      } else if (const auto* child = std::get_if<SpawnChild>(&acts_.front())) {
        const bool stubborn = child->kind == ChildKind::stubborn;
        const int pid = start_again({stubborn ? "--sleep-on" : "--sleep"}, child->kind);
        if (child->serves) server_ = pid;
      } else if (const auto* exit = std::get_if<ExitProcess>(&acts_.front())) {
        return exit->code;
      } else if (const auto* killed = std::get_if<KillItself>(&acts_.front())) {
        die_by(killed->signal);
      }
      acts_.pop_front();
    }
    return std::nullopt;
  }

  // Returns false if it cannot be written now. Bytes that nothing will read count as written.
  bool write_some(const Waiting& write) {
    pollfd ready{write.descriptor, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) return false;
    const std::size_t size = std::min(write.bytes->size() - written_, pipe_atomic_bytes);
    const ssize_t written = ::write(write.descriptor, write.bytes->data() + written_, size);
    if (written < 0) {
      if (errno == EINTR || errno == EAGAIN) return false;
      write.bytes->clear();
      return true;
    }
    written_ += static_cast<std::size_t>(written);
    if (written_ == write.bytes->size()) write.bytes->clear();
    return true;
  }

  int timeout_ms() const {
    if (last_words_until_) return static_cast<int>(last_words_ms);
    if (!acts_.empty()) return -1;
    const auto wake = agent_.wake_at_ms();
    if (!wake) return -1;
    return static_cast<int>(std::clamp<std::int64_t>(*wake - steady_wall_ms(), 0, 60'000));
  }

  void wait() {
    const Waiting write = first_write();
    const bool reads = !input_ended_ && agent_.reads_stdin();
    pollfd ready[] = {{signals_, POLLIN, 0},
                      {reads ? STDIN_FILENO : -1, POLLIN, 0},
                      {write.descriptor, POLLOUT, 0}};
    if (poll(ready, std::size(ready), timeout_ms()) <= 0) return;
    if (ready[0].revents != 0) on_signal();
    if (ready[1].revents != 0) read_input();
  }

  void on_signal() {
    signalfd_siginfo one;
    if (read(signals_, &one, sizeof one) != sizeof one) return;
    if (one.ssi_signo == SIGCHLD) return reap_children();
    agent_.terminate();
    if (agent_.has_ended()) last_words_until_ = steady_wall_ms() + last_words_ms;
  }

  void reap_children() {
    for (pid_t pid = 0; (pid = waitpid(-1, nullptr, WNOHANG)) > 0;) {
      if (pid == server_) agent_.server_ended();
    }
  }

  void read_input() {
    char bytes[1 << 16];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count > 0) {
      // Its answer may depend on the time, which passed while no input came.
      if (acts_.empty()) agent_.tick(steady_wall_ms());
      agent_.feed({bytes, static_cast<std::size_t>(count)});
    } else if (count == 0 || errno != EINTR) {
      input_ended_ = true;
      agent_.feed_end();
      if (agent_.has_ended()) last_words_until_ = steady_wall_ms() + last_words_ms;
    }
  }

  TestAgent& agent_;
  int signals_ = -1;
  pid_t server_ = -1;
  bool input_ended_ = false;
  std::optional<std::int64_t> last_words_until_;
  std::deque<Act> acts_;
  std::size_t written_ = 0;  // of the next write
};

}  // namespace

std::int64_t steady_wall_ms() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  using Steady = std::chrono::steady_clock;
  using Wall = std::chrono::system_clock;
  static const auto start = Steady::now();
  static const auto wall = Wall::now().time_since_epoch();
  return duration_cast<milliseconds>(wall + (Steady::now() - start)).count();
}

int start_again(const std::vector<std::string>& arguments, ChildKind kind) {
  std::vector<std::string> words = {"/proc/self/exe"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  const int session_flag = kind == ChildKind::setsid ? POSIX_SPAWN_SETSID : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | session_flag));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int descriptor = 0; kind == ChildKind::setsid && descriptor < 3; ++descriptor) {
    posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = -1;
  const int failed =
      posix_spawn(&pid, words[0].c_str(), &files, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return failed ? -1 : pid;
}

void take_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigaddset(&term, SIGCHLD);
  sigprocmask(SIG_BLOCK, &term, nullptr);
}

int run_agent(TestAgent& agent) { return Pump(agent).run(); }

}  // namespace perdure::testagent
