// Questions to a person. Each has one wait token; the first durable answer wins; only an answer
// that names it ever allows anything (G7, TOK3). Token and permission close in one decision.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/probe.h"
#include "core/session/token_index.h"
#include "core/session/transitions/draft.h"

namespace perdure {
namespace {

// A process inside a hosted session must never answer for a person.
Result<> check_may_answer(const Draft& draft) {
  if (!draft.input.by.starts_with("session:")) return {};
  return fail(Code::denied, "a process inside a session cannot answer its own questions");
}

const Wait* find_wait(const State& state, PermissionId permission) {
  for (const auto& [token, wait] : state.waits) {
    if (wait.permission == permission) return &wait;
  }
  return nullptr;
}

Origin wait_origin(const Draft& draft, RunId run) {
  Origin origin = draft.exec_origin();
  if (draft.state.run && draft.state.run->id == run) origin.run = run;
  return origin;
}

struct Answer {
  PermissionOutcome outcome = PermissionOutcome::selected;
  std::string option_id;
  std::string option_name = {};
};

// token.consumed, permission.resolved, run.resumed and the command to the agent: one transaction.
void consume(Draft& draft, const Wait& wait, const Answer& answer) {
  const Wait closing = wait;  // the state that holds it changes below
  const Origin origin = wait_origin(draft, closing.run);
  draft.add(TokenConsumed{closing.token, draft.input.by}, origin);
  if (const auto at = draft.state.permissions.find(closing.permission);
      at != draft.state.permissions.end()) {
    const Permission permission = at->second;
    draft.add(PermissionResolved{closing.permission, answer.outcome, answer.option_id,
                                 draft.input.by, answer.option_name},
              origin);
    draft.command(AnswerRequest{permission.request, answer.option_id});
  }
  if (origin.run) draft.add(RunResumed{closing.token}, origin);
  Reply& reply = draft.decision.reply;
  reply.seq = draft.state.head;
  reply.outcome = answer.outcome;
  reply.option_id = answer.option_id;
  reply.option_name = answer.option_name;
  reply.decided_by = draft.input.by;
}

// The decision that stands, for a later answer (N6); an expired question is an error.
Outcome answer_closed(Draft& draft, const ClosedWait& closed) {
  if (closed.outcome == PermissionOutcome::expired) {
    return fail(Code::permission_closed, "the question expired: the agent that asked it is gone");
  }
  SIM_PROBE("second answer learns the first");
  draft.decision.reply = {.nothing_to_do = true,
                          .outcome = closed.outcome,
                          .option_id = closed.option_id,
                          .option_name = closed.option_name,
                          .decided_by = closed.by};
  return std::move(draft.decision);
}

// An answer that names its question is not valid for any other.
Result<Answer> read_answer(const Permission& permission, const auto& command) {
  if (!command.if_question.empty() && command.if_question != permission.digest) {
    return fail(Code::conflict, "this is not the question that was shown: read it again");
  }
  if (command.option_id.empty()) return Answer{PermissionOutcome::cancelled, ""};
  const auto option =
      std::ranges::find(permission.options, command.option_id, &PermissionOption::id);
  if (option == permission.options.end()) {
    return fail(Code::invalid_argument, "the question has no option '" + command.option_id + "'");
  }
  return Answer{PermissionOutcome::selected, option->id, option->name};
}

// An imported journal may have a token without its question.
Result<Answer> answer_to(const State& state, PermissionId permission, const auto& command) {
  const auto at = state.permissions.find(permission);
  if (at == state.permissions.end()) {
    return fail(Code::permission_closed, "the question is no longer open");
  }
  return read_answer(at->second, command);
}

// A question that can no longer be answered: recorded, and answered `cancelled` at once.
void refuse_question(Draft& draft, const PermissionRequested& asked, const Origin& origin) {
  draft.add(asked, origin);
  draft.add(PermissionResolved{asked.permission, PermissionOutcome::cancelled, "", "system"},
            origin);
  draft.command(AnswerRequest{asked.request, ""});
}

}  // namespace

void on_frame(Draft& draft, const Frame& frame, const FramePermission& body) {
  const Origin origin = frame_origin(draft, frame);
  // Readers of the record see exactly the options that can be chosen.
  std::vector<PermissionOption> options = options_offered(body.options);
  const std::uint64_t left_out = body.options.size() - options.size() + body.options_left_out;
  const PermissionRequested asked{draft.ids.next<PermissionId>(),
                                  body.request,
                                  body.tool_call_id,
                                  body.title,
                                  std::move(options),
                                  body.update,
                                  left_out};
  const bool run_over = origin.after_run || draft.state.exec.stop_requested ||
                        (origin.run && draft.state.run->cancelling);
  if (run_over || draft.state.waits.size() >= waits_open_max) {
    SIM_PROBE("question refused: its run is over");
    refuse_question(draft, asked, origin);
    return;
  }
  std::optional<Deadline> deadline;
  if (draft.state.policy.wait_ms > 0) {
    deadline = Deadline::after(draft.input.now, draft.state.policy.wait_ms);
  }
  draft.add(asked, origin);
  draft.add(
      TokenMinted{body.token, body.secret_hash, WaitKind::permission, asked.permission, deadline},
      origin);
  if (origin.run) draft.add(RunWaiting{WaitKind::permission, body.token, deadline}, origin);
  draft.effect(Notify{NotifyWhat::needs_input, origin.run});
}

void on_frame(Draft& draft, const Frame&, const FramePermissionGone& body) {
  for (const auto& [id, permission] : draft.state.permissions) {
    if (permission.request != body.request) continue;
    const Wait wait = *find_wait(draft.state, id);
    const Origin origin = wait_origin(draft, wait.run);
    draft.add(TokenRevoked{wait.token, "withdrawn"}, origin);
    draft.add(PermissionResolved{wait.permission, PermissionOutcome::cancelled, "", "agent"},
              origin);
    if (origin.run) draft.add(RunResumed{wait.token}, origin);
    return;
  }
  draft.decision.dropped = 1;
}

Outcome on(Draft& draft, const AnswerPermission& command) {
  TRY_VOID(check_may_answer(draft));
  if (const Wait* wait = find_wait(draft.state, command.permission)) {
    if (wait->deadline && wait->deadline->remaining_ms(draft.input.now) <= 0) {
      return fail(Code::permission_closed, "the question expired: the time to answer is over");
    }
    const Answer answer = TRY(answer_to(draft.state, command.permission, command));
    consume(draft, *wait, answer);
    return std::move(draft.decision);
  }
  const auto closed =
      std::ranges::find(draft.state.closed_waits, command.permission, &ClosedWait::permission);
  if (closed == draft.state.closed_waits.end()) return fail(Code::not_found, "no such question");
  return answer_closed(draft, *closed);
}

Outcome on(Draft& draft, const AnswerWait& command) {
  TRY_VOID(check_may_answer(draft));
  TRY_VOID(validate_wait(draft.state, command, draft.input.now));
  const Wait& wait = draft.state.waits.at(command.token);
  Answer answer{PermissionOutcome::selected, command.option_id};
  if (wait.permission) answer = TRY(answer_to(draft.state, wait.permission, command));
  consume(draft, wait, answer);
  return std::move(draft.decision);
}

void close_waits(Draft& draft, const CloseWaits& how) {
  const std::map<WaitTokenId, Wait> waits = draft.state.waits;
  for (const auto& [token, wait] : waits) {
    if (how.run && wait.run != how.run) continue;
    const Origin origin = wait_origin(draft, wait.run);
    draft.add(TokenRevoked{token, how.reason}, origin);
    const auto at = draft.state.permissions.find(wait.permission);
    if (at == draft.state.permissions.end()) continue;
    const std::string request = at->second.request;
    draft.add(PermissionResolved{wait.permission, how.outcome, "", draft.input.by}, origin);
    if (how.tell_agent) draft.command(AnswerRequest{request, ""});
  }
}

Outcome on(Draft& draft, const WaitDeadlinePassed& input) {
  const auto at = draft.state.waits.find(input.token);
  if (at == draft.state.waits.end() || !at->second.deadline) return std::move(draft.decision);
  SIM_PROBE("wait deadline passed");
  const Wait wait = at->second;
  const Origin origin = wait_origin(draft, wait.run);
  draft.add(TokenExpired{wait.token}, origin);
  if (const auto asked = draft.state.permissions.find(wait.permission);
      asked != draft.state.permissions.end()) {
    const std::string request = asked->second.request;
    draft.add(PermissionResolved{wait.permission, PermissionOutcome::expired, "", "system"},
              origin);
    draft.command(AnswerRequest{request, ""});
  }
  if (origin.run) {
    close_waits(draft, {.run = origin.run,
                        .outcome = PermissionOutcome::expired,
                        .reason = "interrupted",
                        .tell_agent = true});
    draft.command(CancelPrompt{origin.run});
    end_run(draft, RunInterrupted{InterruptReason::wait_timeout});
  }
  return std::move(draft.decision);
}

}  // namespace perdure
