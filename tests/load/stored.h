// Daemons with large stores, or with many idle clients: the cost of a restart and of an idle
// client.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon_process.h"
#include "figures.h"

namespace perdure::load {

// The sessions that reconcile must check after a restart.
enum class Stored { closed, open };

struct StoreShape {
  int sessions = 1000;
  std::uint64_t records = 1'000'000;  // in total
  Stored stored = Stored::closed;
};

// Writes sessions into the store of a stopped daemon, as a daemon would have; returns their ids.
Result<std::vector<std::string>> fill_store(const DaemonProcess& daemon, const StoreShape& shape);

struct RestartFigures {
  double serving_ms = 0;      // from exec to the first response of /readyz
  double first_list_ms = 0;   // GET /api/sessions
  double all_at_head_ms = 0;  // from the first connect until every client has read to the head
  std::uint64_t clients = 0;
  std::uint64_t wrong = 0;
  double resident_mib = 0;
};
// Starts the daemon on the stored data; then one client per session resumes, `behind` records
// behind.
Result<RestartFigures> run_restart(DaemonProcess& daemon, const std::vector<std::string>& sessions,
                                   std::uint64_t behind);

struct IdleFigures {
  std::uint64_t held = 0;  // still open at the end
  double connect_s = 0;
  double kib_per_client = 0;  // of the daemon's anonymous memory
  double resident_mib = 0;
  double cpu_share = 0;  // of one core, while all of them wait
};
Result<IdleFigures> run_idle(DaemonProcess& daemon, int clients, int seconds);

}  // namespace perdure::load
