// The meaning of agents' errors, in one table. The same condition has many codes and texts, so the
// decision depends first on the call and the words and last on the code.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/acp/rpc.h"

namespace perdure::acp {

// Our calls, distinguished as far as their errors differ in meaning.
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
  method_missing,    // the agent lacks the method: the next rung of the ladder
  session_unknown,   // no such session, or one never prompted: agents do not distinguish them
  session_in_use,    // already loaded, or another process writes it
  session_archived,  // it exists, but has to be restored first
  auth,              // a person has to log in or provide a key
  cancelled,         // as requested
  rate_limited,      // later; `reset_at` or `retry_after_ms` if the agent reported it
  transport,         // network, or the model's server: a retry may succeed
  cwd_missing,       // the folder does not exist
  version,           // no common protocol version
  invalid_params,    // it rejects the parameters; a retry does not help
  other,
};

// The stable text of a failure, e.g. "session_unknown".
std::string_view failure_name(Failure failure);

struct Verdict {
  Failure failure = Failure::other;
  std::optional<Timestamp> reset_at;           // as reported; never checked against a clock
  std::optional<std::int64_t> retry_after_ms;  // from the arrival of the error
  bool operator==(const Verdict&) const = default;
};

// Pure and total: any error has a verdict.
Verdict classify(Call call, const RpcError& error);

// Whether C4 lets the ladder continue to a new agent session after this failure of load or resume.
// All other failures keep the agent's session id.
bool allows_fresh_session(Failure failure);

}  // namespace perdure::acp
