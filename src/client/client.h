// The daemon over HTTP, by its unix socket or a URL. A call that got no answer is made again under
// the same key, so that it acts once (G2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/api.h"
#include "client/autostart.h"
#include "http/client.h"

namespace perdure::client {

// Whether this caller may start a daemon that is not there.
enum class StartPolicy {
  may_start,
  never,           // the user or the verb says so
  inside_session,  // the caller runs inside a hosted session: never, and it is told why
};

struct ClientSettings {
  std::string data_folder;
  std::string host_url;  // given: that daemon, which is never started from here
  std::string token;     // needed with a URL; the socket knows its caller
  StartPolicy start = StartPolicy::may_start;
  // For the first answer, when that is not to be waited for long (completion); 0: the usual time.
  std::int64_t probe_ms = 0;
  StartRequest starter;  // its data_folder is set by connect_daemon()
};

// Finds the daemon, and starts it where that is allowed. Blocks. `unavailable`: nobody is there.
Result<std::unique_ptr<DaemonApi>> connect_daemon(ClientSettings settings);

}  // namespace perdure::client
