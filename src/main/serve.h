// `perdure serve`: builds the daemon out of its parts, in the order in which they need each other,
// and runs it until it is told to stop. Agentctls are left alone at the end: the next daemon finds
// them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "main/open_journal.h"

namespace perdure {

struct ServeOptions {
  std::string listen;  // empty: as the config says
  std::string config;  // a file; empty: the usual one
  std::string tls_certificate;
  std::string tls_key;
  std::string advertise;  // the three as Config has them; empty and 0: as the config says
  std::string executions;
  std::int64_t lease_secs = 0;
  std::optional<AskedStore> store;  // nothing: the one that the data folder has, else sqlite
  bool background = false;          // detach; the starting process ends when the daemon serves
  bool clean_start = false;         // U12: what is there is put aside first
  bool stop = false;     // end the daemon that runs on this data folder, and nothing else
  std::string program;   // this executable, for the demo agent
  std::string agentctl;  // the supervisor's executable
};

// The exit code.
int serve(const ServeOptions& options);

}  // namespace perdure
