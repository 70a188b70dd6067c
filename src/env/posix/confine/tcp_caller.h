// Who is at the other end of a TCP connection from this machine. The kernel names the socket and
// not the process that has it, so processes are searched for it: first those outside of every
// session, so that what a session holds never delays a person.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "env/posix/confine/caller.h"

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
  // Of processes inside sessions, so many descriptors are looked at in one search at most: a few
  // hundred milliseconds. Whoever holds more of them delays and hides its own connections only.
  static constexpr int descriptors_max = 1 << 18;
  explicit TcpCallers(CallerRules rules, int descriptors = descriptors_max)
      : rules_(rules), descriptors_(descriptors) {}

  // Looks at processes that are not plainly inside a session: those that called before, the newest,
  // then all of them, milliseconds for each hundred. Nothing: none is seen to hold the connection.
  std::optional<CallerPlace> find_outside(const TcpEnds& ends);
  // Looks at those inside, to name the session. How much it looks at is bounded.
  CallerPlace find_inside(const TcpEnds& ends);
  // Both, one after the other.
  CallerPlace find(const TcpEnds& ends);

 private:
  struct Holder {
    std::int64_t pid = 0;
    int descriptor = -1;
  };
  CallerPlace judge(const Holder& holder, const std::string& link);
  std::vector<Holder> known();
  std::vector<std::int64_t> processes(bool inside) const;
  void remember(const Holder& holder);

  CallerRules rules_;
  int descriptors_;
  std::mutex mutex_;
  std::vector<Holder> known_;  // outside, the latest first
};

}  // namespace perdure
