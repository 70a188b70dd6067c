// Listening sockets that outlive their server: while a daemon starts again its addresses are never
// free for somebody else, and whoever connects waits in the backlog.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/socket.h"

namespace perdure {

class KeptListeners {
 public:
  // What pass_on() of the program that ran in this process before has left, if anything. The
  // environment says so once: call it before there are threads or children.
  static KeptListeners inherit();

  // A descriptor of a listener that is kept, or of a new one, which is kept from now on.
  Result<Socket> listen_tcp(const SocketAddress& address, std::string_view shown);
  Result<Socket> listen_unix(const UnixName& at);
  // Closes those that nobody asked for since the last call.
  void close_unused();
  void close() { kept_.clear(); }
  // Leaves them to the program that takes over this process by exec().
  void pass_on() const;

 private:
  struct Kept {
    Socket socket;
    std::string name;  // what it listens at
    bool is_used = false;
  };
  Result<Socket> copy_of(std::string_view name);
  Result<Socket> keep(Socket made, std::string name);

  std::vector<Kept> kept_;
};

}  // namespace perdure
