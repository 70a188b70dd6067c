// A separate thread accepts and never responds, so that the daemon's calls stay in flight.
#include "listener.h"

#include <cstring>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {

std::unique_ptr<SilentListener> SilentListener::on_tcp(Does does) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK(bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return std::unique_ptr<SilentListener>(new SilentListener(fd, ntohs(address.sin_port), does));
}

std::unique_ptr<SilentListener> SilentListener::on_socket(const std::string& path, Does does) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  CHECK(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return std::unique_ptr<SilentListener>(new SilentListener(fd, 0, does));
}

SilentListener::SilentListener(int fd, std::uint16_t port, Does does)
    : fd_(fd), port_(port), does_(does) {
  CHECK(listen(fd, 64) == 0);
  thread_ = std::thread([this] { run(); });
}

SilentListener::~SilentListener() {
  stopping_ = true;
  thread_.join();
  for (const int held : held_) close(held);
  close(fd_);
}

void SilentListener::run() {
  while (!stopping_) {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 20) <= 0) continue;
    const int caller = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (caller < 0) continue;
    const bool hangs_up =
        does_ == Does::hang_up || (does_ == Does::alternate && calls_.load() % 2 == 0);
    if (hangs_up) {
      close(caller);
    } else {
      held_.push_back(caller);
    }
    ++calls_;
  }
}

}  // namespace perdure
