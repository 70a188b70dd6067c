#include "core/views/receipt.h"

#include <utility>

namespace perdure {
namespace {

std::string count_of(std::uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

Rung rung_of(const ContextBoundary& boundary) {
  switch (boundary.how) {
    case BoundaryHow::native_resume: return Rung::resume;
    case BoundaryHow::native_load: return Rung::load;
    case BoundaryHow::injected: return Rung::inject;
    case BoundaryHow::handover: return boundary.inject ? Rung::inject : Rung::fresh;
    case BoundaryHow::fresh: return Rung::fresh;
    case BoundaryHow::cleared:
    case BoundaryHow::compacted: return Rung::none;
  }
  return Rung::none;
}

bool was_interrupted(const State& state) {
  return state.last_run && state.last_run->interrupted &&
         *state.last_run->interrupted != InterruptReason::forked;
}

// The agent restored its own session, as far as it kept it.
void add_native_losses(Receipt& receipt, const ContextBoundary& boundary, const State& after) {
  const std::uint64_t prompts = after.context.prompts;
  if (boundary.verified == Verified::partial && boundary.replayed_prompts < prompts) {
    receipt.lost.push_back("the agent returned " + std::to_string(boundary.replayed_prompts) +
                           " of its " + count_of(prompts, "earlier prompt"));
  }
  if (was_interrupted(after)) {
    receipt.lost.emplace_back("text of the interrupted turn may be missing");
  }
}

void add_injection_losses(Receipt& receipt, std::uint64_t turns) {
  if (turns == 0) return;
  receipt.lost.push_back(
      "the agent's own memory of the " + count_of(turns, "earlier turn") +
      (receipt.injected ? "; it got them as text" : "; it gets them as text with the next prompt"));
  if (receipt.injected && receipt.injected->turns < receipt.injected->of) {
    const std::uint64_t missing = receipt.injected->of - receipt.injected->turns;
    receipt.lost.push_back(count_of(missing, "earlier turn") +
                           " did not fit into that text, or only partly");
  }
  receipt.lost.emplace_back(
      "thoughts, attachments and the ends of long messages and tool results are not in that text");
}

void add_losses(Receipt& receipt, const ContextBoundary& boundary, const State& after) {
  const std::uint64_t turns = after.context.history_prompts;
  switch (receipt.rung) {
    case Rung::resume:
    case Rung::load: add_native_losses(receipt, boundary, after); return;
    case Rung::inject: add_injection_losses(receipt, turns); return;
    case Rung::fresh:
      if (turns > 0) {
        receipt.lost.push_back(turns == 1 ? "the agent starts without the earlier turn"
                                          : "the agent starts without any of the " +
                                                count_of(turns, "earlier turn"));
      }
      return;
    case Rung::attach: return;
    case Rung::none: break;
  }
  receipt.lost.emplace_back(boundary.how == BoundaryHow::cleared
                                ? "everything said before the context was cleared"
                                : "the parts that the agent dropped when it compacted its context");
}

Receipt begin_receipt(const ContextBoundary& boundary, const State& after) {
  return {.rung = rung_of(boundary),
          .how = boundary.how,
          .agent_session_id = boundary.agent_session_id.empty() ? after.context.agent_session_id
                                                                : boundary.agent_session_id,
          .verified = boundary.verified,
          .inject_armed = boundary.inject,
          .reason = boundary.reason,
          .attempts = boundary.attempts};
}

}  // namespace

int rung_number(Rung rung) { return static_cast<int>(rung); }

Receipt make_receipt(const ContextBoundary& boundary, const State& after) {
  Receipt receipt = begin_receipt(boundary, after);
  add_losses(receipt, boundary, after);
  return receipt;
}

Receipt make_receipt(const ContextBoundary& boundary, const State& after,
                     const ContextInjected& injected) {
  Receipt receipt = begin_receipt(boundary, after);
  receipt.inject_armed = false;
  receipt.injected = {.turns = injected.turns, .of = injected.turns_of, .chars = injected.chars};
  add_losses(receipt, boundary, after);
  return receipt;
}

Receipt make_receipt(const ResumeFailed& failed, const State& after) {
  return {
      .agent_session_id = after.context.rejected ? "" : after.context.agent_session_id,
      .reason = failed.message.empty() ? std::string(enum_text(failed.failure)) : failed.message,
      .attempts = failed.attempts};
}

Receipt make_live_receipt(const State& state) {
  return {.rung = Rung::attach,
          .how = state.context.how,
          .agent_session_id = state.context.agent_session_id,
          .verified = Verified::full,
          .inject_armed = state.context.inject_armed,
          .already_running = true};
}

}  // namespace perdure
