#include "net/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

constexpr int listen_backlog = 1024;

std::unexpected<Error> trouble(int error, std::string_view doing) {
  Code code = Code::internal;
  switch (error) {
    case ENOENT: code = Code::not_found; break;
    case EACCES:
    case EPERM: code = Code::denied; break;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: code = Code::limit_reached; break;
    case EADDRINUSE:
    case EADDRNOTAVAIL:
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EAGAIN:
    case ETIMEDOUT: code = Code::unavailable; break;
    default: break;
  }
  return fail(code, std::string(doing) + ": " + std::generic_category().message(error));
}

Result<Socket> make_socket(int family) {
  Socket made(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return trouble(errno, "make a socket");
  return made;
}

const sockaddr* plain(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);
}

// The folder stays open while the address is used.
struct UnixPlace {
  Socket folder;
  sockaddr_un address{.sun_family = AF_UNIX};
};

Result<UnixPlace> unix_place(const UnixName& at) {
  if (at.name.empty() || at.name.contains('/') || at.name.contains('\0')) {
    return fail(Code::invalid_argument, "not a socket's name: " + at.name);
  }
  UnixPlace place;
  place.folder = Socket(::open(at.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place.folder) return trouble(errno, "open " + at.folder);
  const std::string path = "/proc/self/fd/" + std::to_string(place.folder.get()) + "/" + at.name;
  if (path.size() >= sizeof place.address.sun_path) {
    return fail(Code::invalid_argument, "the socket's name is too long: " + at.name);
  }
  std::memcpy(place.address.sun_path, path.c_str(), path.size() + 1);
  return place;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = other.release();
  }
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<SocketAddress> numeric_address(const std::string& host, std::uint16_t port) {
  SocketAddress out;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out.size = sizeof *v4;
    return out;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out.size = sizeof *v6;
    return out;
  }
  return std::nullopt;
}

std::string source_of(const std::string& address) {
  in6_addr v6{};
  if (::inet_pton(AF_INET6, address.c_str(), &v6) != 1) return address;
  return {reinterpret_cast<const char*>(&v6), sizeof v6 / 2};
}

Result<Socket> listen_tcp_socket(const SocketAddress& address, std::string_view shown) {
  Socket made = TRY(make_socket(address.storage.ss_family));
  const int on = 1;
  ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.storage.ss_family == AF_INET6) {
    ::setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const std::string doing = "listen at " + std::string(shown);
  if (::bind(made.get(), plain(address), address.size) != 0) return trouble(errno, doing);
  if (::listen(made.get(), listen_backlog) != 0) return trouble(errno, doing);
  return made;
}

Result<Socket> listen_unix_socket(const UnixName& at) {
  const UnixPlace place = TRY(unix_place(at));
  struct stat status{};
  if (::fstatat(place.folder.get(), at.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISSOCK(status.st_mode)) return fail(Code::conflict, at.name + " is not a socket");
    if (::unlinkat(place.folder.get(), at.name.c_str(), 0) != 0 && errno != ENOENT) {
      return trouble(errno, "remove the old socket " + at.name);
    }
  }
  Socket made = TRY(make_socket(AF_UNIX));
  // The file is created with this mode, so it never has a wider one, with any umask.
  if (::fchmod(made.get(), 0600) != 0) return trouble(errno, "set the socket's mode");
  const auto* address = reinterpret_cast<const sockaddr*>(&place.address);
  const std::string doing = "listen at " + at.name;
  if (::bind(made.get(), address, sizeof place.address) != 0) return trouble(errno, doing);
  if (::listen(made.get(), listen_backlog) != 0) return trouble(errno, doing);
  return made;
}

Result<std::uint16_t> local_port(const Socket& socket) {
  SocketAddress own;
  own.size = sizeof own.storage;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own.storage), &own.size) != 0) {
    return trouble(errno, "read the socket's address");
  }
  if (own.storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&own.storage)->sin_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&own.storage)->sin6_port);
}

Result<Socket> connect_tcp_socket(const SocketAddress& address) {
  Socket made = TRY(make_socket(address.storage.ss_family));
  const int on = 1;
  ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(made.get(), plain(address), address.size) != 0 && errno != EINPROGRESS) {
    return trouble(errno, "connect");
  }
  return made;
}

Result<> connect_outcome(int descriptor) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return trouble(error, "connect");
  return {};
}

void notice_silence(int descriptor, std::int64_t silence_ms) {
  constexpr std::int64_t probes = 3;
  const int on = 1;
  const int every_s = static_cast<int>(std::max<std::int64_t>(1, silence_ms / 1000 / probes));
  const int count = static_cast<int>(probes);
  const auto user_timeout_ms = static_cast<unsigned>(silence_ms);
  ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &every_s, sizeof every_s);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof user_timeout_ms);
}

Result<Socket> copy_socket(int descriptor) {
  Socket copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  if (!copy) return trouble(errno, "copy a socket");
  return copy;
}

Result<Socket> connect_unix_socket_at(const UnixName& at) {
  const UnixPlace place = TRY(unix_place(at));
  Socket made = TRY(make_socket(AF_UNIX));
  const auto* address = reinterpret_cast<const sockaddr*>(&place.address);
  if (::connect(made.get(), address, sizeof place.address) != 0) {
    if (errno == EAGAIN) return fail(Code::limit_reached, at.name + " has too many callers");
    return trouble(errno, "connect to " + at.name);
  }
  return made;
}

Result<std::optional<Socket>> accept_socket(int listener) {
  const int made = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (made < 0) {
    const int error = errno;
    if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
      return trouble(error, "accept");
    }
    return std::nullopt;
  }
  const int on = 1;
  // Fails on a unix socket, where it has no meaning.
  ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Socket(made);
}

HttpPeer peer_of(int descriptor) {
  HttpPeer peer;
  SocketAddress far;
  far.size = sizeof far.storage;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&far.storage), &far.size) != 0) {
    return peer;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (far.storage.ss_family == AF_UNIX) {
    peer.is_unix = true;
    ucred who{.pid = 0, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
    socklen_t size = sizeof who;
    ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &who, &size);
    peer.uid = who.uid;
    peer.pid = who.pid;
    return peer;
  }
  if (far.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&far.storage);
    peer.address = ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    peer.port = ntohs(v4->sin_port);
  } else if (far.storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&far.storage);
    peer.address = ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    peer.port = ntohs(v6->sin6_port);
  }
  SocketAddress near;
  near.size = sizeof near.storage;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&near.storage), &near.size) != 0) {
    return peer;
  }
  if (near.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&near.storage);
    peer.local_address = ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    peer.local_port = ntohs(v4->sin_port);
  } else if (near.storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&near.storage);
    peer.local_address = ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    peer.local_port = ntohs(v6->sin6_port);
  }
  return peer;
}

Transferred receive_some(int descriptor, std::span<char> into) {
  for (;;) {
    const ssize_t got = ::recv(descriptor, into.data(), into.size(), 0);
    if (got > 0) return {Transfer::some, static_cast<std::size_t>(got)};
    if (got == 0) return {Transfer::ended};
    if (errno == EINTR) continue;
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK;
    return {later ? Transfer::would_wait : Transfer::broken};
  }
}

Transferred send_some(int descriptor, std::span<const std::string_view> parts) {
  std::array<iovec, send_parts_max> gathered;
  const std::size_t count = std::min(parts.size(), gathered.size());
  for (std::size_t i = 0; i < count; ++i) {
    gathered[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
  }
  msghdr message{};
  message.msg_iov = gathered.data();
  message.msg_iovlen = count;
  for (;;) {
    const ssize_t sent = ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
    if (sent >= 0) return {Transfer::some, static_cast<std::size_t>(sent)};
    if (errno == EINTR) continue;
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK;
    return {later ? Transfer::would_wait : Transfer::broken};
  }
}

}  // namespace perdure
