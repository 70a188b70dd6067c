// A loop and processes for tests, see small_world.h: every descriptor is polled with a short
// timeout, and a child that has closed its output is asked for its status in each round.
#include "small_world.h"

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace perdure::test {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

class SmallProcess final : public Process {
 public:
  SmallProcess(SmallWorld& world, ProcessEvents& events) : world_(world), events_(&events) {}
  ~SmallProcess() override {
    world_.processes_.erase(this);
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (int& fd : {std::ref(in_), std::ref(out_), std::ref(err_)}) close_fd(fd);
  }

  Result<> start(const SpawnSpec& spec) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    terminal_ = spec.terminal.has_value();
    if (terminal_) {
      const winsize size{.ws_row = spec.terminal->rows, .ws_col = spec.terminal->columns};
      pid_ = ::forkpty(&out_, nullptr, nullptr, &size);
    } else {
      if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0 ||
          ::pipe2(err.data(), O_CLOEXEC) != 0) {
        return fail(Code::unavailable, "no pipes");
      }
      pid_ = ::fork();
    }
    if (pid_ < 0) return fail(Code::unavailable, "no fork");
    if (pid_ == 0) {
      if (!terminal_) {
        ::setsid();
        ::dup2(in[0], 0);
        ::dup2(out[1], 1);
        ::dup2(err[1], 2);
      }
      run_child(spec);
    }
    if (!terminal_) {
      ::close(in[0]);
      ::close(out[1]);
      ::close(err[1]);
      in_ = in[1];
      out_ = out[0];
      err_ = err[0];
      ::fcntl(in_, F_SETFL, O_NONBLOCK);
    }
    ::fcntl(out_, F_SETFD, FD_CLOEXEC);
    world_.processes_.insert(this);
    return {};
  }

  std::int64_t pid() const override { return pid_; }
  void write(std::string_view bytes) override { unwritten_ += bytes; }
  std::size_t unwritten_bytes() const override { return unwritten_.size(); }
  void close_input() override { closing_ = true; }
  void pause_output() override {}
  void resume_output() override {}
  void signal(int number) override {
    if (pid_ > 0) ::kill(-pid_, number);
  }
  void resize(TerminalSize size) override {
    const winsize now{.ws_row = size.rows, .ws_col = size.columns};
    ::ioctl(out_, TIOCSWINSZ, &now);
  }

  void collect(std::vector<pollfd>& fds) const {
    if (out_ >= 0) fds.push_back({.fd = out_, .events = POLLIN});
    if (err_ >= 0) fds.push_back({.fd = err_, .events = POLLIN});
  }

  // Reads and writes what can be; then perhaps the exit. False: it was its last event.
  bool step() {
    push();
    pull(out_);
    if (world_.processes_.contains(this)) pull(err_);
    if (!world_.processes_.contains(this)) return false;
    int status = 0;
    if (out_ >= 0 || err_ >= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return true;
    pid_ = 0;
    world_.processes_.erase(this);
    ProcessExit exit;
    if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
    events_->on_exit(exit);
    return false;
  }

 private:
  [[noreturn]] static void run_child(const SpawnSpec& spec) {
    if (::chdir(spec.cwd.c_str()) == 0) {
      ::execvpe(spec.command[0].c_str(), pointers(spec.command).data(),
                pointers(spec.environment).data());
    }
    ::_exit(127);
  }
  static void close_fd(int& fd) {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }
  void push() {
    int& fd = terminal_ ? out_ : in_;
    if (fd < 0) return;
    pollfd ready{.fd = fd, .events = POLLOUT};
    while (!unwritten_.empty() && ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) {
      const ssize_t n =
          ::write(fd, unwritten_.data(), std::min<std::size_t>(unwritten_.size(), 512));
      if (n <= 0) break;
      unwritten_.erase(0, static_cast<std::size_t>(n));
    }
    if (unwritten_.empty() && closing_ && !terminal_) close_fd(in_);
  }
  void pull(int& fd) {
    if (fd < 0) return;
    pollfd ready{.fd = fd, .events = POLLIN};
    if (::poll(&ready, 1, 0) != 1) return;
    char buffer[65536];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return close_fd(fd);  // a terminal ends with EIO
    const std::string_view bytes(buffer, static_cast<std::size_t>(n));
    if (&fd == &out_) {
      events_->on_output(bytes);
    } else {
      events_->on_error_output(bytes);
    }
  }

  SmallWorld& world_;
  ProcessEvents* events_;
  bool terminal_ = false;
  pid_t pid_ = 0;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool closing_ = false;
  std::string unwritten_;
};

SmallWorld::~SmallWorld() { tasks_.clear(); }

Loop::TimerId SmallWorld::after_ms(std::int64_t delay_ms, Task task) {
  timers_.emplace(++last_timer_,
                  Timer{Clock::now() + std::chrono::milliseconds(delay_ms), std::move(task)});
  return last_timer_;
}

Result<std::unique_ptr<Process>> SmallWorld::spawn(const SpawnSpec& spec, ProcessEvents& events) {
  ::signal(SIGPIPE, SIG_IGN);
  auto process = std::make_unique<SmallProcess>(*this, events);
  TRY_VOID(process->start(spec));
  ++spawned;
  return process;
}

void SmallWorld::round() {
  for (std::size_t count = tasks_.size(); count > 0; --count) {
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }
  const auto now = Clock::now();
  for (auto at = timers_.begin(); at != timers_.end();) {
    if (at->second.at > now) {
      ++at;
      continue;
    }
    Timer timer = std::move(at->second);
    timers_.erase(at);
    timer.task();
    at = timers_.begin();
  }
  std::vector<pollfd> fds;
  for (const SmallProcess* process : processes_) process->collect(fds);
  if (tasks_.empty()) ::poll(fds.data(), fds.size(), fds.empty() ? 0 : 1);
  for (SmallProcess* process : std::vector(processes_.begin(), processes_.end())) {
    if (processes_.contains(process)) process->step();
  }
}

bool SmallWorld::run_until(const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    round();
  }
  return true;
}

}  // namespace perdure::test
