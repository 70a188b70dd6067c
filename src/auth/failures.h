// Counts failed logins by where they came from. Only failures are ever held back: whoever has the
// right token is let in, so that nobody can lock another one out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace perdure {

class AuthFailures {
 public:
  // Notes one. True: there were too many lately, tell them so instead of looking further.
  bool note(const std::string& source, BootTime now);
  std::size_t sources() const { return sources_.size(); }

 private:
  struct Source {
    std::int64_t debt_ms = 0;  // each failure adds auth_failure_ms, time takes it away
    BootTime at;
  };
  std::map<std::string, Source> sources_;
};

}  // namespace perdure
