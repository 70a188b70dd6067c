// Following a session without a view to type into: rows, or records as JSON lines, until a run has
// ended, a time is over, or for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/trouble.h"
#include "cli/verb_call.h"

namespace perdure::cli {

struct WatchRequest {
  std::string session;  // its id
  std::uint64_t after = 0;
  // When to end. Nothing of the three: at the first question that cannot be asked, never before.
  std::string run;                         // this run has ended
  std::string message;                     // the run of this prompt has ended
  bool until_run_ends = false;             // any run has ended
  std::optional<std::uint64_t> until_seq;  // this record was shown
  bool until_asked = false;                // a question is open
  std::optional<std::int64_t> timeout_ms;
  bool is_quiet = false;                           // nothing is printed
  std::function<void(JsonView record)> show = {};  // prints each record, instead of rows
};

struct Watched {
  enum class End { run_ended, asked, shown, timeout };
  End end = End::shown;
  std::string run_end;  // completed, failed, cancelled, interrupted
};

// Prints as --json says, and tells why it stopped. Blocks.
Outcome<Watched> watch_session(VerbCall& call, const WatchRequest& request);

// 0 for completed, 1 for the other ends, 4 for a question, 124 for the timeout.
int exit_of(const Watched& watched);

}  // namespace perdure::cli
