// HTTP as an attacker writes it: bytes are sent unchanged, so that a test can send what no normal
// client would. The rule: responses are only read, never repaired.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perdure {

struct RawAnswer {
  int status = 0;  // 0: the connection ended without a response
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // The first value; empty if there is none.
  std::string header(std::string_view name) const;
  bool has(std::string_view name) const;
};

// One connection over TCP or a unix socket.
class RawConnection {
 public:
  // From 127.0.0.`source`: failed logins are counted by address.
  static RawConnection to_port(std::uint16_t port, std::uint8_t source);
  static RawConnection to_socket(const std::string& path);
  RawConnection(RawConnection&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), unread_(std::move(other.unread_)) {}
  RawConnection(const RawConnection&) = delete;
  ~RawConnection();

  bool is_open() const { return fd_ >= 0; }
  void send(std::string_view bytes) const;
  // One response, with its body as given by Content-Length or chunks; for a stream, its head and
  // the data received with it.
  RawAnswer read_answer();
  // Reads and discards until the other side closes; false at the deadline.
  bool until_closed(std::int64_t wait_ms);

 private:
  explicit RawConnection(int fd) : fd_(fd) {}
  // Reads more bytes into unread_; false if there are no more.
  bool read_more(std::int64_t wait_ms);

  int fd_ = -1;
  std::string unread_;
};

}  // namespace perdure
