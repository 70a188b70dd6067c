// Live sessions under a load that does not wait for the daemon: prompts and chunks are due at fixed
// times, and every delay counts from them, so that a daemon that stalls is charged for all that
// came due meanwhile (no coordinated omission).
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

// TCP clients show a token, and the daemon looks up which process each connection belongs to.
enum class Over { unix_socket, tcp };

struct Shape {
  int sessions = 20;
  int events_per_s = 20;  // of one session, records of every kind
  int clients_per_session = 5;
  int seconds = 60;
  Over over = Over::unix_socket;
};

struct LiveFigures {
  Times accepted;  // from a prompt's due time to its answer
  Times seen;      // from a chunk's due time to a client that read it
  std::uint64_t refused = 0;
  std::uint64_t lost = 0;     // chunks or ends that a client did not get
  std::uint64_t wrong = 0;    // records out of order, repeated or skipped; streams cut
  std::uint64_t records = 0;  // journalled while measured
  double seconds = 0;
  Usage before;
  Usage after;
  Baselines::Taken raw;
};

// A daemon for `sessions` live agents and as many streams as anybody opens.
DaemonSetup load_setup(const std::string& program);
Door door_of(const DaemonProcess& daemon, Over over);
// As many descriptors as the system lets us have.
void raise_descriptor_limit();

// An error when the load could not be set up at all.
Result<LiveFigures> run_live(DaemonProcess& daemon, const Shape& shape);

// New sessions of the test agent; an error when one is refused.
Result<std::vector<std::string>> make_sessions(const DaemonProcess& daemon, int count);
// Waits for a condition while the clients read.
bool read_until(HttpIo& io, double wait_ms, const std::function<bool()>& condition);

}  // namespace perdure::load
