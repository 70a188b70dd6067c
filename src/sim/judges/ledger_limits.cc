// Provider limits: each is waited out once, each end is reported once, and waits never exceed the
// policy (P13). Counts independently, so that a bug in the state machine cannot hide itself.
#include "base/limits.h"
#include "sim/judges/ledger.h"

namespace perdure::sim {

LimitOutcome Ledger::outcome_of_limit(Timestamp at) const {
  const auto& terms = policy_.continue_at_reset;
  if (!terms || !terms->on) return LimitOutcome::not_asked;
  if (limit_->tools_open) return LimitOutcome::tool_open;
  if (queue_.size() >= queue_prompts_max) return LimitOutcome::queue_full;
  if (limit_series_->continued >= terms->times) return LimitOutcome::too_often;
  const bool is_late = at.ms - limit_series_->since.ms > terms->hours * 3600'000;
  return is_late ? LimitOutcome::too_late : LimitOutcome::continued;
}

void Ledger::see(const Event& event, const LimitWaiting& e) {
  const bool follows = last_run_ && last_run_->id == e.of && last_run_->code == "rate_limited";
  expect(copying_ || (owed_.must_wait && follows), "P13", "a limit that no run met");
  expect(!limit_ || copying_, "P13", "two limits are waited for at once");
  expect(copying_ || e.tools_open == owed_.tools_were_open, "P13",
         "whether a tool was open when the limit was met");
  owed_.must_wait = false;
  limit_ = LimitWait{e.of, e.reset_at, e.until, e.tools_open};
  if (!limit_series_) limit_series_ = LimitSeries{.since = event.at};
}

void Ledger::see(const Event& event, const LimitOver& e) {
  if (!expect(limit_ && limit_->run == e.of, "P13", "an end of a limit that is not waited for")) {
    return;
  }
  expect(limits_over_.insert(e.of).second, "P13", "a limit ends twice");
  if (!copying_) {
    expect(e.outcome == outcome_of_limit(event.at), "P13",
           "it goes on, or does not, against its policy");
    owed_.must_go_on = e.outcome == LimitOutcome::continued;
  }
  limit_.reset();
  if (e.outcome == LimitOutcome::continued) limit_series_->continued += 1;
}

}  // namespace perdure::sim
