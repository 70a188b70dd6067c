// Who is at the other end of a TCP connection from this machine. The kernel names the socket and
// not the process that has it, so it is looked for: first where it most likely is, then everywhere.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "env_posix/caller.h"

namespace perdure {

struct TcpEnds {
  std::string their_address;  // "127.0.0.1", "::1"
  std::uint16_t their_port = 0;
  std::string our_address;
  std::uint16_t our_port = 0;
};

// Only a process outside of every session that was seen to hold the socket makes a caller one from
// outside. From another machine it is outside, too. May be asked from several threads.
class TcpCallers {
 public:
  explicit TcpCallers(CallerRules rules) : rules_(rules) {}

  // Looks at processes that called before, and at the newest ones: some hundred microseconds at
  // most, on any machine. Nothing: it takes a look at all of them.
  std::optional<CallerPlace> find_soon(const TcpEnds& ends);
  // Looks at every process: milliseconds for each hundred of them.
  CallerPlace find(const TcpEnds& ends);

 private:
  struct Holder {
    std::int64_t pid = 0;
    int descriptor = -1;
  };
  CallerPlace judge(const Holder& holder, const std::string& link);
  std::vector<Holder> known();
  void remember(const Holder& holder);

  CallerRules rules_;
  std::mutex mutex_;
  std::vector<Holder> known_;  // outside, the latest first
};

}  // namespace perdure
