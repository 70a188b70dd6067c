#include "env/posix/process/detach.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

// The answer's pipe in the detached process: everything above is closed.
constexpr int pipe_place = 3;

std::int64_t boottime_ms() {
  timespec now{};
  CHECK(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Precedes the answer in the pipe.
struct AnswerHead {
  std::uint32_t size = 0;
  std::int32_t exit_code = 0;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

// Exactly that many bytes; nullopt if the pipe ends or the time is over.
std::optional<std::string> read_exactly(const Fd& pipe, std::size_t size, std::int64_t until_ms) {
  std::string bytes(size, '\0');
  for (std::size_t filled = 0; filled < size;) {
    pollfd readable{.fd = pipe.get(), .events = POLLIN};
    const std::int64_t left_ms = std::max<std::int64_t>(0, until_ms - boottime_ms());
    const int count = poll(&readable, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 60'000)));
    if (count < 0 && errno != EINTR) return std::nullopt;
    if (count <= 0) {
      if (left_ms == 0) return std::nullopt;
      continue;
    }
    const ssize_t got = ::read(pipe.get(), bytes.data() + filled, size - filled);
    if (got <= 0) return std::nullopt;
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

// In the starting process: passes the answer on and exits.
[[noreturn]] void await_answer(const Fd& pipe, const DetachSetting& setting) {
  const std::int64_t until_ms = boottime_ms() + setting.answer_ms;
  AnswerHead head;
  std::optional<std::string> answer = read_exactly(pipe, sizeof head, until_ms);
  if (answer) {
    std::memcpy(&head, answer->data(), sizeof head);
    CHECK(head.size <= detach_answer_bytes_max);
    answer = read_exactly(pipe, head.size, until_ms);
  }
  const int to = head.exit_code == 0 ? STDOUT_FILENO : setting.refusal_descriptor;
  if (answer && write_all(to, *answer)) _exit(head.exit_code);
  write_all(STDERR_FILENO, boottime_ms() >= until_ms
                               ? "the detached process did not answer in time\n"
                               : "the detached process ended before it answered\n");
  _exit(1);
}

// In the detached process: releases everything that it inherited.
void let_go(Fd pipe) {
  CHECK(dup3(pipe.get(), pipe_place, O_CLOEXEC) == pipe_place || pipe.get() == pipe_place);
  pipe.release();
  if (syscall(SYS_close_range, pipe_place + 1, ~0U, 0) != 0) {
    const long most = std::min(sysconf(_SC_OPEN_MAX), 65'536L);
    for (int descriptor = pipe_place + 1; descriptor < most; ++descriptor) close(descriptor);
  }
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  CHECK(null >= 0, "no /dev/null");
  for (int descriptor = 0; descriptor < 3; ++descriptor) CHECK(dup2(null, descriptor) >= 0);
  if (null > 2) close(null);
  CHECK(chdir("/") == 0);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  CHECK(sigprocmask(SIG_SETMASK, &none, nullptr) == 0);
}

}  // namespace

Result<> Detached::answer(std::string_view bytes) {
  CHECK(pipe_, "an answer is given once");
  return send(bytes, 0);
}

void Detached::refuse(std::string_view bytes, int exit_code) {
  if (pipe_) (void)send(bytes, exit_code);  // without a waiting starter, the error does not matter
}

Result<> Detached::send(std::string_view bytes, int exit_code) {
  if (bytes.size() > detach_answer_bytes_max) {
    return fail(Code::limit_reached, "the answer is longer than detach_answer_bytes_max");
  }
  const AnswerHead head{static_cast<std::uint32_t>(bytes.size()), exit_code};
  std::string message(sizeof head, '\0');
  std::memcpy(message.data(), &head, sizeof head);
  message += bytes;
  // If the starter is gone, that must be an error here, not a signal.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const bool written = write_all(pipe_.get(), message);
  ::signal(SIGPIPE, before);
  pipe_.reset();
  if (!written) return fail(Code::unavailable, "the reader of the answer is gone");
  return {};
}

Result<Detached> detach(const DetachSetting& setting) {
  Pipe pipe = TRY(make_pipe());
  const pid_t first = fork();
  if (first < 0) return system_failure("fork");
  if (first > 0) {
    pipe.write.reset();
    int status = 0;
    while (waitpid(first, &status, 0) < 0 && errno == EINTR) {}
    await_answer(pipe.read, setting);
  }
  pipe.read.reset();
  CHECK(setsid() >= 0);
  // It does not lead its session, so it cannot get a terminal by opening one.
  const pid_t second = fork();
  if (second != 0) _exit(second > 0 ? 0 : 1);
  const mode_t before = umask(077);
  let_go(std::move(pipe.write));
  return Detached(Fd(pipe_place), before);
}

}  // namespace perdure
