// Follows a session without an input line: prints rows, or records as JSON lines, until a run ends,
// a timeout expires, or indefinitely.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "perdure/verbs/call/trouble.h"
#include "perdure/verbs/call/verb_call.h"

namespace perdure::cli {

struct WatchRequest {
  std::string session;  // its id
  std::uint64_t after = 0;
  // When to end, in addition to the timeout. If none of these is set, it never ends.
  std::string run;                         // until this run has ended
  std::string message;                     // until the run of this prompt has ended
  bool until_run_ends = false;             // until any run has ended
  std::optional<std::uint64_t> until_seq;  // until this record has been printed
  bool until_asked = false;                // until a question is open
  std::optional<std::int64_t> timeout_ms;
  bool is_quiet = false;                           // prints nothing
  std::function<void(JsonView record)> show = {};  // prints each record, instead of rows
};

struct Watched {
  enum class End { run_ended, asked, shown, timeout };
  End end = End::shown;
  std::string run_end;  // completed, failed, cancelled, interrupted
};

// Prints in the format that --json selects, and returns why it stopped. Blocks.
Outcome<Watched> watch_session(VerbCall& call, const WatchRequest& request);

// 0 for completed, 1 for the other ends, 4 for a question, 124 for the timeout.
int exit_of(const Watched& watched);

}  // namespace perdure::cli
