// What an agent's error means, in one table: the same thing has many codes and texts, so that the
// decision goes by the call and the words first and by the code last.
#pragma once

#include <cstdint>
#include <optional>

#include "acp/rpc.h"
#include "base/time.h"

namespace perdure::acp {

// Our calls, as far as they differ in what their errors mean.
enum class Call {
  initialize,
  authenticate,
  open_new,
  load,
  resume,
  prompt,
  set_option,
  close,
  remove,
  list,
  fork,
  other
};

enum class Failure {
  method_missing,    // the agent has no such method: the next rung of the ladder
  session_unknown,   // no such session, or one that was never prompted: agents tell both alike
  session_in_use,    // loaded already, or another process writes it
  session_archived,  // it exists, and somebody has to bring it back first
  auth,              // a person has to log in or give a key
  cancelled,         // as we asked
  rate_limited,      // not now; `reset_at` or `retry_after_ms` where the agent told
  transport,         // network, or the model's server: trying again may serve
  cwd_missing,       // the folder is not there
  version,           // no common protocol version
  invalid_params,    // it refuses what we sent; sending it again does not help
  other,
};

// The stable text of a failure, e.g. "session_unknown".
std::string_view failure_name(Failure failure);

struct Verdict {
  Failure failure = Failure::other;
  std::optional<Timestamp> reset_at;           // as told; never checked against a clock
  std::optional<std::int64_t> retry_after_ms;  // counted from the arrival of the error
  bool operator==(const Verdict&) const = default;
};

// Pure, and total: any error has a verdict.
Verdict classify(Call call, const RpcError& error);

// Whether C4 lets the ladder go on to a new agent session after this failure of load or resume.
// Everything else keeps the agent's session id.
bool allows_fresh_session(Failure failure);

}  // namespace perdure::acp
