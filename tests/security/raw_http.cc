// See raw_http.h: bytes are sent unchanged, so that a request may be arbitrarily malformed.
#include "raw_http.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstring>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace perdure {
namespace {

constexpr std::int64_t answer_wait_ms = 30'000;

int connected(int fd, const sockaddr* address, socklen_t size) {
  if (connect(fd, address, size) == 0) return fd;
  close(fd);
  return -1;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

RawAnswer parse_head(std::string_view head) {
  RawAnswer answer;
  if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) return answer;
  std::from_chars(head.data() + 9, head.data() + 12, answer.status);
  head.remove_prefix(std::min(head.find("\r\n"), head.size()));
  while (head.starts_with("\r\n")) {
    head.remove_prefix(2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) {
      answer.headers.emplace_back(lower(line.substr(0, colon)), line.substr(colon + 2));
    }
    head.remove_prefix(line.size());
  }
  return answer;
}

}  // namespace

std::string RawAnswer::header(std::string_view name) const {
  for (const auto& [each, value] : headers) {
    if (each == name) return value;
  }
  return {};
}

bool RawAnswer::has(std::string_view name) const {
  return std::ranges::any_of(headers, [&](const auto& header) { return header.first == name; });
}

RawConnection RawConnection::to_port(std::uint16_t port, std::uint8_t source) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(0x7f000000u | source);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0)
    return RawConnection(-1);
  return RawConnection(connected(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

RawConnection RawConnection::to_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return RawConnection(connected(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

RawConnection::~RawConnection() {
  if (fd_ >= 0) close(fd_);
}

void RawConnection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool RawConnection::read_more(std::int64_t wait_ms) {
  pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(wait_ms)) <= 0) return false;
  char bytes[16'384];
  const ssize_t got = recv(fd_, bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  unread_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

RawAnswer RawConnection::read_answer() {
  std::size_t end = 0;
  while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more(answer_wait_ms)) return {};
  }
  RawAnswer answer = parse_head(std::string_view(unread_).substr(0, end));
  unread_.erase(0, end + 4);
  std::size_t length = 0;
  const std::string text = answer.header("content-length");
  std::from_chars(text.data(), text.data() + text.size(), length);
  while (unread_.size() < length && read_more(answer_wait_ms)) {}
  answer.body = unread_.substr(0, text.empty() ? unread_.size() : length);
  unread_.erase(0, answer.body.size());
  return answer;
}

bool RawConnection::until_closed(std::int64_t wait_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(wait_ms);
  while (Clock::now() < deadline) {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 50) <= 0) continue;
    char bytes[16'384];
    if (recv(fd_, bytes, sizeof bytes, 0) <= 0) return true;
  }
  return false;
}

}  // namespace perdure
