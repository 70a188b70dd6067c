// `perdure serve`: builds the daemon from its parts, in the order of their dependencies, and runs
// it until it is stopped. Agentctls keep running, and the next daemon finds them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/setup/open_journal.h"

namespace perdure {

struct ServeOptions {
  std::string listen;  // empty: from the config
  std::string config;  // a path; empty: the usual one
  std::string tls_certificate;
  std::string tls_key;
  std::string advertise;  // the three as in Config; empty and 0: from the config
  std::string executions;
  std::int64_t lease_secs = 0;
  std::optional<AskedStore> store;  // nullopt: the data folder's, otherwise sqlite
  bool background = false;          // detach; the starting process ends when the daemon serves
  bool clean_start = false;         // U12: existing data is put aside first
  bool stop = false;                // only end the daemon that runs on this data folder
  std::string program;              // this executable, for the demo agent
  std::string agentctl;             // the supervisor's executable
};

// Returns the exit code.
int serve(const ServeOptions& options);

}  // namespace perdure
