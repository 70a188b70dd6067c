// Owned sockets and their system calls. Every socket is close-on-exec and non-blocking from its
// creation, and none of these calls waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include "base/result.h"
#include "net/message.h"

namespace perdure {

// Owns one descriptor; -1 is none.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// The address of a numeric host ("127.0.0.1", "::1"); nullopt for a name.
std::optional<SocketAddress> numeric_address(const std::string& host, std::uint16_t port);
// The source with which connections are counted: a numeric IPv4 address, or an IPv6 /64, all of
// which one host can own.
std::string source_of(const std::string& address);

struct UnixName {
  const std::string& folder;
  const std::string& name;
};

// `unavailable` if the address is taken or not ours.
Result<Socket> listen_tcp_socket(const SocketAddress& address, std::string_view shown);
// Mode 0600 from its creation. conflict: the path exists and is not a socket.
Result<Socket> listen_unix_socket(const UnixName& at);
Result<std::uint16_t> local_port(const Socket& socket);

// The socket may still be connecting: it becomes writable when that has ended, and connect_outcome
// returns the result.
Result<Socket> connect_tcp_socket(const SocketAddress& address);
Result<> connect_outcome(int descriptor);
// Breaks a TCP socket whose peer, including the peer's kernel, is silent for this long.
void notice_silence(int descriptor, std::int64_t silence_ms);
// Another descriptor of the same socket.
Result<Socket> copy_socket(int descriptor);
// Connects at once or fails. limit_reached: the listener's backlog is full.
Result<Socket> connect_unix_socket_at(const UnixName& at);

// nullopt: no caller waits. limit_reached: one does, but no descriptor is left for it.
Result<std::optional<Socket>> accept_socket(int listener);
HttpPeer peer_of(int descriptor);

// How a read or write ended: with bytes, would have to wait, or can never succeed.
enum class Transfer { some, would_wait, ended, broken };
struct Transferred {
  Transfer how = Transfer::broken;
  std::size_t bytes = 0;
};
Transferred receive_some(int descriptor, std::span<char> into);
// Sends at most send_parts_max of the parts.
inline constexpr std::size_t send_parts_max = 64;
Transferred send_some(int descriptor, std::span<const std::string_view> parts);

}  // namespace perdure
