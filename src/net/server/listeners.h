// Listening sockets that outlive their server. While a daemon restarts, no other program can take
// its addresses, and callers wait in the backlog.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/socket.h"

namespace perdure {

class KeptListeners {
 public:
  // Takes over the sockets that pass_on() of this process's previous program left, if any. It reads
  // the environment only once: call it before there are threads or children.
  static KeptListeners inherit();

  // A descriptor of a kept listener, or of a new one, which is kept from now on.
  Result<Socket> listen_tcp(const SocketAddress& address, std::string_view shown);
  Result<Socket> listen_unix(const UnixName& at);
  // Closes those that have not been requested since the last call.
  void close_unused();
  void close() { kept_.clear(); }
  // Leaves them to the program that takes over this process by exec().
  void pass_on() const;

 private:
  struct Kept {
    Socket socket;
    std::string name;  // the address on which it listens
    bool is_used = false;
  };
  Result<Socket> copy_of(std::string_view name);
  Result<Socket> keep(Socket made, std::string name);

  std::vector<Kept> kept_;
};

}  // namespace perdure
