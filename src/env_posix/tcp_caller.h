// Finds the process at the other end of a TCP connection from this machine. The kernel names only
// its socket, so the process is searched for: first in the most likely places, then everywhere.
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

// A caller counts as outside only if a process outside of every session was seen to hold the
// socket, or if it is on another machine. Thread-safe.
class TcpCallers {
 public:
  explicit TcpCallers(CallerRules rules) : rules_(rules) {}

  // Checks processes that called before, and the newest ones: some hundred microseconds at most, on
  // any machine. nullopt: use find().
  std::optional<CallerPlace> find_soon(const TcpEnds& ends);
  // Checks every process: milliseconds for each hundred of them.
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
