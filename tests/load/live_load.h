// Live sessions under a load that does not wait for the daemon: prompts and chunks are due at fixed
// times, and delays count from those times, so that a stall counts for everything that became due
// during it (no coordinated omission).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon_process.h"
#include "figures.h"
#include "sse_client.h"

namespace perdure::load {

// TCP clients send a token, and the daemon looks up the process of each connection.
enum class Over { unix_socket, tcp };

struct Shape {
  int sessions = 20;
  int events_per_s = 20;  // per session, records of every kind
  int clients_per_session = 5;
  int seconds = 60;
  Over over = Over::unix_socket;
};

struct LiveFigures {
  Times accepted;  // from a prompt's due time to its answer
  Times seen;      // from a chunk's due time to a client that read it
  std::uint64_t refused = 0;
  std::uint64_t lost = 0;     // chunks or ends that a client did not receive
  std::uint64_t wrong = 0;    // records out of order, repeated or skipped; streams cut
  std::uint64_t records = 0;  // journalled during the measurement
  double seconds = 0;
  Usage before;
  Usage after;
  Baselines::Taken raw;
};

// A daemon for `sessions` live agents and an unlimited number of streams.
DaemonSetup load_setup(const std::string& program);
Door door_of(const DaemonProcess& daemon, Over over);
// To the highest number that the system permits.
void raise_descriptor_limit();

// An error if the load could not be set up at all.
Result<LiveFigures> run_live(DaemonProcess& daemon, const Shape& shape);

// Creates sessions of the test agent; an error if one is rejected.
Result<std::vector<std::string>> make_sessions(const DaemonProcess& daemon, int count);
// Waits for a condition while the clients read.
bool read_until(HttpIo& io, double wait_ms, const std::function<bool()>& condition);

}  // namespace perdure::load
