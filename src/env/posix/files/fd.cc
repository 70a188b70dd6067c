#include "env/posix/files/fd.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ESRCH: return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return Code::denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Code::disk_full;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case E2BIG: return Code::limit_reached;
    case EINVAL:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOEXEC: return Code::invalid_argument;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE: return Code::unavailable;
    case EEXIST:
    case EADDRINUSE:
    case EBUSY: return Code::conflict;
    default: return Code::internal;
  }
}

// Moves a descriptor to 3 or above: a lower one would be overwritten by a child's stdio.
Result<Fd> above_stdio(Fd fd) {
  if (fd.get() > 2) return fd;
  Fd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!moved) return system_failure("move a descriptor");
  return moved;
}

}  // namespace

void Fd::reset(int descriptor) {
  if (descriptor_ >= 0) {
    // Linux frees the number even if close is interrupted; only a bad number is our bug.
    const int saved = errno;
    if (close(descriptor_) != 0) CHECK(errno != EBADF, "closed a descriptor twice");
    errno = saved;
  }
  descriptor_ = descriptor;
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure("make a pipe");
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  pipe.read = TRY(above_stdio(std::move(pipe.read)));
  pipe.write = TRY(above_stdio(std::move(pipe.write)));
  return pipe;
}

Result<> set_nonblocking(const Fd& fd) {
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0 || fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return system_failure("make a descriptor non-blocking");
  }
  return {};
}

Error system_error(int error, std::string_view doing) {
  char text[128];
  std::string message(doing);
  message += ": ";
  message += strerror_r(error, text, sizeof text);
  return Error(code_of(error), std::move(message));
}

std::unexpected<Error> system_failure(std::string_view doing) {
  return std::unexpected(system_error(errno, doing));
}

Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return system_failure("open " + path);
  std::string text;
  char chunk[4096];
  while (text.size() < bytes_max) {
    const ssize_t got = ::read(file.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read " + path);
    if (got == 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  if (text.size() > bytes_max) text.resize(bytes_max);
  return text;
}

}  // namespace perdure
