// Counts failed logins by their source. Only failures are delayed, each longer than the last, and
// finally rejected: a valid token is accepted at once, so that one client cannot lock out another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace perdure {

class AuthFailures {
 public:
  // Records a failure. True: there were too many recently; report that and stop processing.
  bool note(const std::string& source, BootTime now);
  // How long to delay the answer to the last recorded failure.
  std::int64_t delay_ms(const std::string& source, BootTime now) const;
  std::size_t sources() const { return sources_.size(); }

 private:
  struct Source {
    std::int64_t debt_ms = 0;  // each failure adds auth_failure_ms; decreases with time
    BootTime at;
    std::int64_t debt_at(BootTime now) const;
  };
  std::map<std::string, Source> sources_;
};

}  // namespace perdure
