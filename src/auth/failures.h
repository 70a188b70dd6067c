// Counts failed logins by where they came from. Only failures are ever held back, longer with each,
// and refused at last: whoever has the right token is let in at once, so that nobody can lock
// another one out.
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
  // How long the answer to the failure that was noted last is to be held back.
  std::int64_t delay_ms(const std::string& source, BootTime now) const;
  std::size_t sources() const { return sources_.size(); }

 private:
  struct Source {
    std::int64_t debt_ms = 0;  // each failure adds auth_failure_ms, time takes it away
    BootTime at;
    std::int64_t debt_at(BootTime now) const;
  };
  std::map<std::string, Source> sources_;
};

}  // namespace perdure
