// Who is at the other end of a connection that came over loopback. The kernel tells no peer for
// TCP, so it is looked up: dear, and worth it only where the answer decides something.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace perdure {

struct LoopbackPeer {
  std::string address;  // theirs: "127.0.0.1", "::1"
  std::uint16_t port = 0;
  std::uint16_t our_port = 0;
};

// The session of the hosted process that holds the connection; empty: no hosted process does.
// Some milliseconds on a machine with some hundred processes. not_found: the connection is not
// there any more. unavailable: a hosted process keeps its descriptors to itself, so that it may be
// the one.
Result<std::string> hosting_session_of(const LoopbackPeer& peer);

}  // namespace perdure
