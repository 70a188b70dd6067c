// decide(): finds the transition for an input, and closes each decision with the resulting status.
#include "core/session/machine.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/probe.h"
#include "core/session/status.h"
#include "core/session/transitions/draft.h"

namespace perdure {
namespace {

// More than any decision has: a cancel answers every open question and adds a few of its own.
static_assert(waits_open_max + 16 < effects_per_record_max);

template <class Terminal>
bool ends_run(const EventBody& body) {
  return holds_alternative<Terminal>(body);
}

bool is_run_end(const EventBody& body) {
  return ends_run<RunCompleted>(body) || ends_run<RunFailed>(body) ||
         ends_run<RunCancelled>(body) || ends_run<RunInterrupted>(body);
}

// Conditions that only a bug here could break. evolve() itself accepts everything journalled.
void check_legal(const State& state, const EventBody& body, const Origin& origin) {
  const bool is_creation = holds_alternative<SessionCreated>(body);
  CHECK(is_creation == (state.head == 0), "a journal starts with session.created, once");
  if (origin.run) {
    const bool starts = holds_alternative<RunStarted>(body);
    CHECK(starts ? !state.run.has_value() : state.run && state.run->id == origin.run,
          "only the open run can have records");
  }
  if (is_run_end(body)) {
    CHECK(state.run && origin.run == state.run->id, "a run ends once");
    CHECK(state.open_tools.empty(), "repairs come before the end of the run");
  }
  if (holds_alternative<ExecutorStarting>(body)) {
    CHECK(!execution_may_live(state) && origin.gen == state.exec.gen + 1,
          "one life after the other");
  }
}

// Frames of any other life than the current one are dropped and counted.
Outcome on(Draft& draft, const Frame& frame) {
  const Execution& exec = draft.state.exec;
  if (!execution_may_live(draft.state) || frame.exec != exec.id || frame.gen != exec.gen) {
    SIM_PROBE("frame of an earlier life dropped");
    draft.decision.dropped = 1;
    return std::move(draft.decision);
  }
  visit([&](const auto& body) { on_frame(draft, frame, body); }, frame.body);
  return std::move(draft.decision);
}

Liveness liveness_of(const State& state, const Input& input) {
  if (!execution_may_live(state)) return Liveness::dead;
  return state.exec.boot == input.boot ? Liveness::alive : Liveness::unknown;
}

bool needs_session(const InputBody& body) { return !holds_alternative<CreateSession>(body); }

}  // namespace

void Draft::add(EventBody body, Origin origin) {
  check_legal(state, body, origin);
  Event event{.at = input.now.wall, .origin = origin, .body = std::move(body)};
  state = evolve(std::move(state), event);
  decision.events.push_back(std::move(event));
}

void Draft::effect(Effect effect) {
  CHECK(!decision.events.empty(), "an effect is committed with the event that caused it");
  CHECK(decision.effects.size() < effects_per_record_max);
  decision.effect_numbers.push_back(next_effect_number());
  decision.effects.push_back(std::move(effect));
}

// Grows with the journal, so it needs no counter of its own and is never used twice.
std::uint64_t Draft::next_effect_number() const {
  return state.head * effects_per_record_max + decision.effects.size();
}

void Draft::command(CommandBody body) {
  effect(SendCommand{state.exec.id, state.exec.gen, next_effect_number(), std::move(body)});
}

Origin Draft::run_origin() const {
  CHECK(state.run.has_value());
  return {.run = state.run->id, .exec = state.exec.id, .gen = state.exec.gen};
}

Result<Decision> decide(const State& state, const Input& input) {
  if (state.head == 0 && needs_session(input.body)) {
    return fail(Code::not_found, "the session does not exist yet");
  }
  Draft draft(state, input);
  Outcome outcome = visit([&](const auto& body) { return on(draft, body); }, input.body);
  if (!outcome) return outcome;
  draft.decision = std::move(*outcome);
  if (draft.state.head == 0) return std::move(draft.decision);
  const World world{liveness_of(draft.state, input), input.boot, input.now};
  const std::string status(enum_text(derive_status(draft.state, world)));
  // Reads must not write: only an input that changed something, or the boot, may.
  const bool may_write =
      !draft.decision.events.empty() || holds_alternative<DaemonBooted>(input.body);
  if (may_write && status != draft.state.status) draft.add(StatusDerived{status});
  return std::move(draft.decision);
}

}  // namespace perdure
