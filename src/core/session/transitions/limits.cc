// Limits of the agent's provider (P13): the wait is journalled, so it survives restarts and
// reboots. Each limit ends with one record and at most one prompt.
#include "base/limits.h"

#include <algorithm>

#include "base/probe.h"
#include "core/session/transitions/draft.h"

namespace perdure {
namespace {

constexpr const char* continue_text = "The usage limit is over. Continue from where you stopped.";
constexpr std::int64_t hour_ms = 3600'000;
// Resets are reported in whole seconds, and clocks differ.
constexpr std::int64_t slack_ms = 1'000;

// If the limit still applies after its reported reset, each wait is longer than the last.
std::int64_t least_wait_ms(const State& state) {
  constexpr std::int64_t doublings_max = 9;
  const std::int64_t continued = state.limit_series ? state.limit_series->continued : 0;
  return limit_wait_ms_min << std::min(continued, doublings_max);
}

}  // namespace

LimitOutcome limit_outcome(const State& state, Timestamp at) {
  const std::optional<ContinueAtReset>& terms = state.policy.continue_at_reset;
  if (!terms || !terms->on) return LimitOutcome::not_asked;
  if (state.limit && state.limit->tools_open) return LimitOutcome::tool_open;
  if (state.queue.size() >= queue_prompts_max) return LimitOutcome::queue_full;
  if (!state.limit_series) return LimitOutcome::continued;
  if (state.limit_series->continued >= terms->times) return LimitOutcome::too_often;
  const bool late = at.ms - state.limit_series->since.ms > terms->hours * hour_ms;
  return late ? LimitOutcome::too_late : LimitOutcome::continued;
}

void wait_for_reset(Draft& draft, const LimitMet& met) {
  const std::int64_t wait_ms = met.reset_at.ms - draft.input.now.wall.ms;
  if (wait_ms > limit_wait_ms_max) return;  // no plausible reset time
  draft.add(
      LimitWaiting{.of = met.run,
                   .reset_at = met.reset_at,
                   .until = Deadline::after(
                       draft.input.now, std::max(wait_ms + slack_ms, least_wait_ms(draft.state))),
                   .tools_open = met.tools_open});
}

Outcome on(Draft& draft, const LimitResetPassed& input) {
  if (!draft.state.limit || draft.state.limit->run != input.run) return std::move(draft.decision);
  const LimitOutcome outcome = limit_outcome(draft.state, draft.input.now.wall);
  draft.add(LimitOver{input.run, outcome});
  if (outcome != LimitOutcome::continued) return std::move(draft.decision);
  SIM_PROBE("continued automatically when a limit was reset");
  draft.add(QueueAdded{.message = draft.ids.next<MessageId>(),
                       .run = draft.ids.next<RunId>(),
                       .prompt = {.text = continue_text},
                       .by = "continue_at_reset",
                       .front = true});
  deliver_next(draft);
  return std::move(draft.decision);
}

}  // namespace perdure
