#include "env/posix/process/posix_process.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"
#include "env/posix/process/processes.h"
#include "env/posix/process/terminal.h"

namespace perdure {
namespace {

// Written bytes are removed from the queue in portions of at least this size, to save copying.
constexpr std::size_t queue_cut_bytes = 64UL << 10;

// The shortest time between two readings, because each opens /proc or a cgroup file.
constexpr std::int64_t oom_look_ms = 1'000;

std::size_t readable_bytes(const Fd& fd) {
  int bytes = 0;
  if (!fd || ioctl(fd.get(), FIONREAD, &bytes) != 0) return 0;
  return static_cast<std::size_t>(std::max(bytes, 0));
}

}  // namespace

Result<> ProcessEnds::prepare() {
  if (terminal) {
    input = Fd(fcntl(output.get(), F_DUPFD_CLOEXEC, 3));
    if (!input) return system_failure("copy a terminal's descriptor");
  } else {
    TRY_VOID(set_nonblocking(error_output));
  }
  TRY_VOID(set_nonblocking(input));
  return set_nonblocking(output);
}

PosixProcess::PosixProcess(PosixProcesses& owner, ProcessEvents& events, SpawnedChild child,
                           ProcessEnds ends)
    : owner_(owner),
      loop_(owner.loop_),
      events_(events),
      pid_(child.pid),
      pidfd_(std::move(child.pidfd)),
      terminal_(ends.terminal),
      input_(std::move(ends.input)) {
  output_.fd = std::move(ends.output);
  error_output_.fd = std::move(ends.error_output);
  owner_.living_.emplace(pid_, this);
  pidfd_watch_ = loop_.watch(pidfd_, Interest::read, [this](Ready) { on_ended(); });
  input_watch_ = loop_.watch(input_, Interest::none, [this](Ready) { write_queued(); });
  start_reading(Stream::output);
  if (error_output_.fd) start_reading(Stream::error_output);
}

PosixProcess::~PosixProcess() {
  if (destroyed_ != nullptr) *destroyed_ = true;
  loop_.cancel(drain_timer_);
  PosixProcess::signal(SIGKILL);
  pidfd_watch_.stop();
  owner_.forget(pid_, std::move(pidfd_));
}

void PosixProcess::start_reading(Stream stream) {
  Channel& from = channel(stream);
  from.watch = loop_.watch(from.fd, Interest::read, [this, stream](Ready) {
    if (read_some(stream) == Got::end) finish_if_drained();
  });
}

PosixProcess::Got PosixProcess::read_some(Stream stream) {
  Channel& from = channel(stream);
  const auto buffer = loop_.read_buffer();
  const ssize_t got = ::read(from.fd.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Got::nothing_now;
  // A terminal reports EIO after its other end was closed everywhere.
  if (got <= 0) return end_stream(stream);
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  from.owed_bytes -= std::min(from.owed_bytes, bytes.size());
  look_at_oom_kills();
  bool destroyed = false;
  destroyed_ = &destroyed;
  stream == Stream::output ? events_.on_output(bytes) : events_.on_error_output(bytes);
  if (destroyed) return Got::destroyed;
  destroyed_ = nullptr;
  return Got::bytes;
}

PosixProcess::Got PosixProcess::end_stream(Stream stream) {
  Channel& ended = channel(stream);
  ended.watch.stop();
  ended.fd.reset();
  if (stream == Stream::error_output) return Got::end;
  bool destroyed = false;
  destroyed_ = &destroyed;
  events_.on_output_end();
  if (destroyed) return Got::destroyed;
  destroyed_ = nullptr;
  return Got::end;
}

void PosixProcess::write(std::string_view bytes) {
  if (!input_ || closing_input_ || exit_) return;
  queue_.append(bytes);
  // If the queue was not empty, the watch will write it.
  if (queue_.size() - queue_written_ == bytes.size()) write_queued();
}

void PosixProcess::write_queued() {
  while (queue_written_ < queue_.size()) {
    const std::size_t left = queue_.size() - queue_written_;
    const ssize_t wrote = ::write(input_.get(), queue_.data() + queue_written_, left);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0) return drop_input();  // the child reads no more
    queue_written_ += static_cast<std::size_t>(wrote);
  }
  if (queue_written_ == queue_.size()) {
    // Also frees the memory of a large prompt.
    std::string().swap(queue_);
    queue_written_ = 0;
    if (closing_input_) return drop_input();
  } else if (queue_written_ >= queue_cut_bytes && queue_written_ >= queue_.size() / 2) {
    queue_.erase(0, std::exchange(queue_written_, 0));
  }
  input_watch_.set_interest(queue_.empty() ? Interest::none : Interest::write);
}

void PosixProcess::drop_input() {
  input_watch_.stop();
  input_.reset();
  std::string().swap(queue_);
  queue_written_ = 0;
}

void PosixProcess::close_input() {
  if (terminal_ || !input_) return;
  closing_input_ = true;
  if (queue_.empty()) drop_input();
}

void PosixProcess::pause_output() {
  paused_ = true;
  if (output_.watch) output_.watch.set_interest(Interest::none);
  loop_.cancel(std::exchange(drain_timer_, 0));
}

void PosixProcess::resume_output() {
  paused_ = false;
  if (output_.watch) output_.watch.set_interest(Interest::read);
  if (exit_ && !exit_told_) wait_for_drain();
}

void PosixProcess::signal(int number) {
  // The group's number is the leader's pid, which is not reaped before our destruction.
  if (number == SIGKILL && !exit_) note_kill();
  kill(-pid_, number);
}

void PosixProcess::resize(TerminalSize size) {
  if (terminal_ && output_.fd) resize_terminal(output_.fd, size);
}

void PosixProcess::on_ended() {
  pidfd_watch_.stop();
  exit_ = exit_status();
  drop_input();
  output_.owed_bytes = readable_bytes(output_.fd);
  error_output_.owed_bytes = readable_bytes(error_output_.fd);
  if (!output_.fd && !error_output_.fd) return finish_if_drained();
  if (!paused_) wait_for_drain();
}

ProcessExit PosixProcess::exit_status() {
  siginfo_t ended{};
  // It stays a zombie: see the head of processes.h.
  const auto id = static_cast<id_t>(pidfd_.get());
  CHECK(waitid(P_PIDFD, id, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid_,
        "another part of this program reaped our child");
  if (ended.si_code == CLD_EXITED) return {.code = ended.si_status};
  ProcessExit exit{.signal = ended.si_status};
  if (exit.signal == SIGKILL && !killed_by_us_) exit.oom = oom_evidence();
  return exit;
}

void PosixProcess::set_oom_kills_before(std::optional<std::uint64_t> count) {
  oom_kills_before_ = oom_kills_last_ = count;
  oom_looked_ms_ = boottime_ms();
}

void PosixProcess::look_at_oom_kills() {
  const std::int64_t now_ms = boottime_ms();
  if (exit_ || now_ms - oom_looked_ms_ < oom_look_ms) return;
  oom_looked_ms_ = now_ms;
  oom_kills_before_ = std::exchange(oom_kills_last_, owner_.setting_.oom_counter.read());
}

OomEvidence PosixProcess::oom_evidence() const {
  const OomCounter& counter = owner_.setting_.oom_counter;
  const auto oom_kills = counter.read();
  if (!oom_kills || !oom_kills_before_ || *oom_kills <= *oom_kills_before_) {
    return OomEvidence::none;
  }
  return counter.scope() == OomCounter::Scope::group ? OomEvidence::group : OomEvidence::machine;
}

void PosixProcess::wait_for_drain() {
  loop_.cancel(drain_timer_);
  drain_timer_ = loop_.after_ms(output_drain_ms, [this] {
    drain_timer_ = 0;
    cut_streams();
  });
}

void PosixProcess::cut_streams() {
  // Another process holds the pipes. This process's output is already in them; ignore the rest.
  for (const Stream stream : {Stream::output, Stream::error_output}) {
    Channel& from = channel(stream);
    while (from.fd && from.owed_bytes > 0) {
      const Got got = read_some(stream);
      if (got == Got::destroyed) return;
      if (paused_) return;  // resume_output() returns here
      if (got != Got::bytes) break;
    }
    if (from.fd && end_stream(stream) == Got::destroyed) return;
  }
  finish_if_drained();
}

void PosixProcess::finish_if_drained() {
  if (!exit_ || exit_told_ || output_.fd || error_output_.fd) return;
  exit_told_ = true;
  loop_.cancel(std::exchange(drain_timer_, 0));
  // The last call: it may destroy this object.
  events_.on_exit(*exit_);
}

}  // namespace perdure
