// The receipt of a resume: which rung of the ladder succeeded and what the agent no longer knows.
// Built from the record that ended the ladder and the state after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/session/state.h"

namespace perdure {

// The rungs of the ladder by number; none: the ladder failed, or this was not a resume.
enum class Rung { none, attach, resume, load, inject, fresh };
ENUM_TEXT(Rung, "none", "attach", "resume", "load", "inject", "new");

struct Receipt {
  Rung rung = Rung::none;
  std::optional<BoundaryHow> how;
  std::string agent_session_id;
  Verified verified = Verified::none;
  bool inject_armed = false;  // the next prompt carries the history
  struct Injected {
    std::uint64_t turns = 0;
    std::uint64_t of = 0;
    std::uint64_t chars = 0;
    bool operator==(const Injected&) const = default;
    FIELDS {
      visit("turns", self.turns);
      visit("of", self.of);
      visit("chars", self.chars);
    }
  };
  std::optional<Injected> injected;  // after it was sent
  std::vector<std::string> lost;     // sentences; empty: the agent lost nothing
  std::string reason;                // why the better rung failed, or why all did
  std::vector<OpenAttempt> attempts;
  bool already_running = false;
  bool operator==(const Receipt&) const = default;
  FIELDS {
    visit("rung_name", self.rung);
    visit("how", self.how);
    visit("agent_session_id", self.agent_session_id);
    visit("verified", self.verified);
    visit("inject_armed", self.inject_armed);
    visit("injected", self.injected);
    visit("lost", self.lost);
    visit("reason", self.reason);
    visit("attempts", self.attempts);
    visit("already_running", self.already_running);
  }
};

// 1 to 5, best first; 0 for none.
int rung_number(Rung rung);

// `after` is the state that includes the boundary, before any later prompt.
Receipt make_receipt(const ContextBoundary& boundary, const State& after);
// The receipt after the history was sent to the agent.
Receipt make_receipt(const ContextBoundary& boundary, const State& after,
                     const ContextInjected& injected);
// All rungs failed. The id is kept, and nothing was lost.
Receipt make_receipt(const ResumeFailed& failed, const State& after);
// The agent is alive: the daemon reattached to its execution, or was always attached (C14).
Receipt make_live_receipt(const State& state);

}  // namespace perdure
