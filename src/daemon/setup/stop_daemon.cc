#include "daemon/setup/stop_daemon.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "env/posix/files/fd.h"

namespace perdure {
namespace {

constexpr int stop_ms = 10'000;

// The listening process. Opens the folder, since a socket's path is limited to 108 bytes.
Result<pid_t> listener(const std::string& run_folder) {
  const auto nobody = [&] {
    return fail(Code::not_found, "no daemon is running for " + run_folder);
  };
  const Fd folder(open(run_folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return nobody();
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = "/proc/self/fd/" + std::to_string(folder.get()) + "/perdure.sock";
  std::memcpy(static_cast<void*>(address.sun_path), path.data(), path.size());
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_failure("socket");
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return nobody();
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return system_failure("SO_PEERCRED");
  }
  if (peer.pid <= 0) return fail(Code::unavailable, "the daemon is in another pid namespace");
  return peer.pid;
}

}  // namespace

Result<> stop_daemon(const std::string& run_folder) {
  const pid_t pid = TRY(listener(run_folder));
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return system_failure("pidfd_open");
  // Repeated while the descriptor holds the process: its pid cannot have been reused.
  if (const Result<pid_t> again = listener(run_folder); !again || *again != pid) {
    return fail(Code::unavailable, "the daemon is being replaced; try again");
  }
  if (syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0) {
    return system_failure("tell the daemon to stop");
  }
  pollfd gone{.fd = process.get(), .events = POLLIN, .revents = 0};
  if (poll(&gone, 1, stop_ms) <= 0) {
    return fail(Code::unavailable, "the daemon (pid " + std::to_string(pid) + ") does not end");
  }
  return {};
}

}  // namespace perdure
