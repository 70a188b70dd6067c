#include "testing/postgres/pg_gate.h"

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

// A Bind of the statement that writes a group: an empty portal name, then the statement's name.
const std::string group_mark("\0group\0", 7);

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Empty: the other side has disconnected.
std::string receive(int fd) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
  return got <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(got));
}

// Closing alone would not wake a thread that polls it.
void close_fd(int& fd) {
  if (fd < 0) return;
  ::shutdown(fd, SHUT_RDWR);
  ::close(std::exchange(fd, -1));
}

}  // namespace

PgGate::PgGate(std::string server_socket) : server_socket_(std::move(server_socket)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0);
  CHECK(::listen(listener_, 16) == 0);
  CHECK(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

PgGate::~PgGate() {
  stopping_ = true;
  thread_.join();
  for (Pair& pair : pairs_) close_pair(pair);
  close_fd(listener_);
}

void PgGate::close_pair(Pair& pair) {
  close_fd(pair.client);
  close_fd(pair.server);
}

void PgGate::arm(Strike strike) {
  const std::scoped_lock lock(mutex_);
  armed_ = strike;
  shuts_ = false;
  has_struck_ = false;
}

void PgGate::arm_and_shut(Strike strike) {
  arm(strike);
  const std::scoped_lock lock(mutex_);
  shuts_ = true;
}

void PgGate::set(Door door) {
  const std::scoped_lock lock(mutex_);
  door_ = door;
  if (door == Door::open) return;
  for (Pair& pair : pairs_) close_pair(pair);
}

std::string PgGate::release() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  Pair* ghost = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    for (Pair& pair : pairs_) {
      if (pair.held.empty()) continue;
      ghost = &pair;
      send_all(pair.server, std::exchange(pair.held, {}));
    }
  }
  while (ghost != nullptr && std::chrono::steady_clock::now() < deadline) {
    {
      const std::scoped_lock lock(mutex_);
      if (!ghost->answer.empty()) return ghost->answer;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return "";
}

void PgGate::run() {
  while (!stopping_) {
    std::vector<pollfd> fds{{.fd = listener_, .events = POLLIN, .revents = 0}};
    std::vector<std::size_t> owners{0};
    {
      const std::scoped_lock lock(mutex_);
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        if (pairs_[i].is_frozen) continue;
        for (const int fd : {pairs_[i].client, pairs_[i].server}) {
          if (fd < 0) continue;
          fds.push_back({.fd = fd, .events = POLLIN, .revents = 0});
          owners.push_back(i);
        }
      }
    }
    ::poll(fds.data(), fds.size(), 5);
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      Pair& pair = pairs_[owners[i]];
      if (fds[i].fd == pair.client) from_client(pair);
      if (fds[i].fd == pair.server) from_server(pair);
    }
    if (fds[0].revents != 0) accept_one();
  }
}

void PgGate::accept_one() {
  Pair pair{.client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(server_socket_.size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, server_socket_.c_str(), server_socket_.size() + 1);
  pair.server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_there =
      ::connect(pair.server, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (door_ == Door::shut || !is_there) return close_pair(pair);
  pairs_.push_back(std::move(pair));
}

void PgGate::from_client(Pair& pair) {
  const std::string bytes = receive(pair.client);
  if (bytes.empty()) return close_pair(pair);
  if (armed_ != Strike::none && bytes.contains(group_mark)) return strike(pair, bytes);
  send_all(pair.server, bytes);
}

void PgGate::from_server(Pair& pair) {
  const std::string bytes = receive(pair.server);
  if (bytes.empty()) return close_pair(pair);
  if (pair.client < 0) pair.answer += bytes;
  if (pair.cuts_answer) return close_pair(pair);
  if (!pair.is_silent && pair.client >= 0) send_all(pair.client, bytes);
}

void PgGate::strike(Pair& pair, const std::string& bytes) {
  switch (std::exchange(armed_, Strike::none)) {
    case Strike::none: break;
    case Strike::before: close_pair(pair); break;
    case Strike::middle:
      send_all(pair.server, std::string_view(bytes).substr(0, bytes.size() / 2));
      close_pair(pair);
      break;
    case Strike::after:
      send_all(pair.server, bytes);
      pair.cuts_answer = true;
      break;
    case Strike::silence:
      send_all(pair.server, bytes);
      pair.is_silent = true;
      break;
    case Strike::freeze: pair.is_frozen = true; break;
    case Strike::ghost:
      pair.held = bytes;
      close_fd(pair.client);
      break;
  }
  if (shuts_) door_ = Door::shut;
  has_struck_ = true;
}

}  // namespace perdure
