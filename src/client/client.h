// The daemon over HTTP, by its unix socket or a URL. A call without a response is repeated under
// the same key, so that it takes effect once (G2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/api.h"
#include "client/autostart.h"
#include "net/client.h"

namespace perdure::client {

// Whether this caller may start a missing daemon.
enum class StartPolicy {
  may_start,
  never,           // the user or the verb forbids it
  inside_session,  // the caller runs in a hosted session: never, and the error says why
};

struct ClientSettings {
  std::string data_folder;
  std::string host_url;  // if set: that daemon, which is never started from here
  std::string token;     // required with a URL; the socket identifies its caller
  StartPolicy start = StartPolicy::may_start;
  // Timeout of the first response, if it must be short (completion); 0: the default.
  std::int64_t probe_ms = 0;
  StartRequest starter;  // connect_daemon() sets its data_folder
};

// Connects to the daemon, and starts it if permitted. Blocks. `unavailable`: no daemon responds.
Result<std::unique_ptr<DaemonApi>> connect_daemon(ClientSettings settings);

}  // namespace perdure::client
