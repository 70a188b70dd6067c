// Compares each answer to a client with the journal at the moment it is given (ACK1–ACK4).
#include <utility>

#include "sim/actors/workload.h"

namespace perdure::sim {
namespace {

template <class Kind>
bool is(const Ledger& book, Seq seq) {
  return seq >= 1 && seq <= book.records() && book.kind_at(seq) == EventBody(Kind{}).index();
}

}  // namespace

// Earlier durable commits may still be reported; the failed one may not (DISK1).
void Workload::check_after_failed_sync(const Order& order, const Reply& reply, const Life& life) {
  judge_.catch_up(order.session);
  const bool is_durable = reply.seq <= judge_.ledger(order.session).records();
  universe_.verdict.expect(
      is_durable && !judge_.is_undecided(order.key, life.number), "DISK1", [&] {
        return tail(order.session) + ": a request is answered whose commit has an unknown outcome";
      });
}

// Any of several daemons may be called: if all is well and the owner does not change, the command
// reaches the owner.
void Workload::check_reached(const Sent& sent, const Result<Reply>& answer,
                             const std::string& owner) {
  const bool is_settled = !owner.empty() && daemons_.settled_owner(sent.order.session) == owner;
  universe_.verdict.expect(
      !is_settled || answer || answer.error().code() != Code::unavailable, "C19",
      [&] { return "a command does not reach " + owner + ": " + answer.error().message(); });
}

void Workload::check_accepted(Sent& sent, const Reply& reply) {
  const Order& order = sent.order;
  Verdict& verdict = universe_.verdict;
  verdict.expect(!order.is_reuse, "ACK2",
                 [&] { return "key " + order.key + " served two bodies"; });
  verdict.expect(!order.is_inside, "TOK3",
                 [] { return std::string("a session answered for a person"); });
  verdict.expect(!order.wrong_secret, "TOK1",
                 [] { return std::string("a wrong secret was taken"); });
  verdict.expect(
      !holds_alternative<DeclareDead>(order.body) || !sent.reachable || sent.is_seen_late, "C19",
      [] { return std::string("what answers was declared dead"); });
  const Ledger& book = judge_.ledger(order.session);
  verdict.expect(reply.seq <= book.records(), "ACK1", [&] {
    return "accepted at " + std::to_string(reply.seq) + ", which is not durable";
  });
  if (sent.accepted && !order.key.empty()) {
    verdict.expect(*sent.accepted == reply, "ACK3",
                   [&] { return "another answer for key " + order.key; });
  } else {
    sent.accepted = reply;
    sent.accepted_ms = universe_.scheduler.now_ms();
    check_effect(sent, reply);
  }
}

// A reported effect is in the journal at the reported place.
void Workload::check_effect(const Sent& sent, const Reply& reply) {
  const Order& order = sent.order;
  const bool prompts =
      holds_alternative<SubmitPrompt>(order.body) || holds_alternative<CreateSession>(order.body);
  const bool answers =
      holds_alternative<AnswerPermission>(order.body) || holds_alternative<AnswerWait>(order.body);
  if (prompts) return check_prompt(order, reply);
  if (answers) return check_answer(order, reply);
  if (holds_alternative<ResumeSession>(order.body)) return check_resume(sent, reply);
  if (reply.nothing_to_do) return check_no_change(sent);
  if (!reply.already_running) check_change(order, reply);
}

// If no change was needed, the state is as requested, unless it was changed since.
void Workload::check_no_change(const Sent& sent) {
  const Ledger& book = judge_.ledger(sent.order.session);
  const bool is_first = sent.tries == 1 && book.records() == sent.asked_at;
  if (daemons_.are_several() || !is_first) return;
  const State& state = book.fold();
  const InputBody& body = sent.order.body;
  bool is_so = true;
  if (const auto* rename = get_if<RenameSession>(&body)) is_so = state.title == rename->title;
  if (holds_alternative<ArchiveSession>(body)) is_so = state.archived;
  if (holds_alternative<UnarchiveSession>(body)) is_so = !state.archived;
  if (holds_alternative<ReleaseQueue>(body)) is_so = !state.queue_held;
  if (holds_alternative<CancelRun>(body)) is_so = !state.run || state.run->cancelling;
  if (holds_alternative<StopSession>(body)) {
    const bool may_live = state.exec.status != ExecutorStatus::none && !state.exec.gone;
    is_so = !state.run && !state.stop_reason.empty() && (!may_live || state.exec.stop_requested);
  }
  if (const auto* configure = get_if<ConfigureSession>(&body)) {
    is_so = configure->what == SessionConfigured{};
  }
  universe_.verdict.expect(is_so, "ACK1", [&] {
    return tail(sent.order.session) + ": nothing was done, and it is not as it was to be (kind " +
           std::to_string(body.index()) + ")";
  });
}

void Workload::check_prompt(const Order& order, const Reply& reply) {
  const Ledger& book = judge_.ledger(order.session);
  const auto expect = [&](bool condition, const char* what) {
    universe_.verdict.expect(condition, "ACK1",
                             [&] { return std::string(what) + " " + reply.placed; });
  };
  if (const auto* create = get_if<CreateSession>(&order.body)) {
    expect(book.records() > 0 && reply.session == order.session, "a session that is not there");
    if (!create->prompt) return;
  }
  expect(book.was_accepted(reply.message), "an accepted prompt is not in the journal");
  expect(order.key.empty() || book.accepted(order.key) == reply.message, "the wrong prompt");
  const bool queued = reply.placed == "queued" || reply.placed == "queued_front";
  const bool started = reply.placed == "started" || reply.placed == "steered";
  expect(reply.run && (queued || started), "a prompt without its place:");
  expect(queued == reply.queue_position.has_value(), "a place in the queue, or not:");
  expect(!started || book.was_started(reply.run), "its run has not started:");
}

void Workload::check_answer(const Order& order, const Reply& reply) {
  const Ledger& book = judge_.ledger(order.session);
  PermissionId permission;
  if (const auto* direct = get_if<AnswerPermission>(&order.body)) permission = direct->permission;
  if (const auto* wait = get_if<AnswerWait>(&order.body)) {
    permission = book.tokens().at(wait->token).permission;
  }
  const auto asked = book.permissions().find(permission);
  universe_.verdict.expect(asked != book.permissions().end() && asked->second.resolved &&
                               reply.outcome == asked->second.outcome &&
                               reply.option_id == asked->second.option_id,
                           "TOK3", [] { return std::string("the answer that stands is another"); });
  universe_.verdict.expect(reply.outcome != PermissionOutcome::expired, "C15", [] {
    return std::string("an answer to a question that has expired was taken");
  });
}

void Workload::check_resume(const Sent& sent, const Reply& reply) {
  const Ledger& book = judge_.ledger(sent.order.session);
  // A repeat gets the answer of an earlier moment.
  const bool may_be_gone = sent.tries > 1 || sent.is_seen_late;
  const bool is_missing = sent.folder_missing && !has_folder(sent.order.session);
  universe_.verdict.expect(reply.already_running || !is_missing || may_be_gone, "C13",
                           [] { return std::string("resumed into a folder that is gone"); });
  const bool asked = is<ResumeRequested>(book, reply.seq) || is<ExecutorStarting>(book, reply.seq);
  universe_.verdict.expect(reply.seq == 0 || asked, "ACK1",
                           [] { return std::string("a resume that nobody will see"); });
}

void Workload::check_change(const Order& order, const Reply& reply) {
  const Ledger& book = judge_.ledger(order.session);
  const Seq seq = reply.seq;
  bool there = seq > 0 && seq <= book.records();
  if (holds_alternative<RenameSession>(order.body)) {
    there = is<SessionRenamed>(book, seq);
  } else if (holds_alternative<ConfigureSession>(order.body)) {
    there = is<SessionConfigured>(book, seq);
  } else if (holds_alternative<StopSession>(order.body)) {
    there = is<SessionStopped>(book, seq);
  } else if (holds_alternative<ArchiveSession>(order.body)) {
    there = is<SessionArchived>(book, seq);
  } else if (holds_alternative<UnarchiveSession>(order.body)) {
    there = is<SessionUnarchived>(book, seq);
  } else if (holds_alternative<EditQueued>(order.body)) {
    there = is<QueueEdited>(book, seq);
  } else if (holds_alternative<RemoveQueued>(order.body)) {
    there = is<QueueRemoved>(book, seq);
  } else if (holds_alternative<ReleaseQueue>(order.body)) {
    there = is<QueueReleased>(book, seq);
  } else if (holds_alternative<StartWorkspace>(order.body)) {
    there = is<ExecutorStarting>(book, seq);
  } else if (holds_alternative<DeclareDead>(order.body)) {
    there = there && !is<StatusDerived>(book, seq);
  } else if (holds_alternative<RepairSession>(order.body)) {
    there = is<RepairClosedMessage>(book, seq) || is<RepairClosedTool>(book, seq) ||
            is<RunInterrupted>(book, seq);
  } else if (const auto* cancel = get_if<CancelRun>(&order.body)) {
    // A full disk turns any cancel into a forced one; the answer may be requested again much later.
    const bool forced = is<RunCancelled>(book, seq);
    there = there && (cancel->force ? forced : !forced || universe_.was_disk_full);
  }
  universe_.verdict.expect(there, "ACK1", [&] {
    return "accepted and not so in the journal at " + tail(order.session) + "/" +
           std::to_string(seq) + " (kind " + std::to_string(order.body.index()) + ")";
  });
}

// C15: a question expires at its deadline, and not before.
void Workload::check_answer_refused(const Order& order, Code code) {
  Verdict& verdict = universe_.verdict;
  const Ledger& book = judge_.ledger(order.session);
  const auto is_past = [&](WaitTokenId token) {
    const auto at = book.tokens().find(token);
    return at != book.tokens().end() && at->second.expires &&
           at->second.expires->remaining_ms(universe_.clock.now()) == 0;
  };
  if (const auto* wait = get_if<AnswerWait>(&order.body); wait && code == Code::token_expired) {
    const bool is_over =
        book.tokens().at(wait->token).status == TokenStatus::expired || is_past(wait->token);
    verdict.expect(is_over, "C15", [] { return std::string("called expired before its time"); });
  }
  if (const auto* answer = get_if<AnswerPermission>(&order.body);
      answer && code == Code::permission_closed && !daemons_.are_several()) {
    const Ledger::Asked& asked = book.permissions().at(answer->permission);
    const bool is_over =
        is_past(asked.token) || (asked.resolved && asked.outcome == PermissionOutcome::expired);
    verdict.expect(is_over, "C15", [] { return std::string("called closed before its time"); });
  }
  verdict.expect(code != Code::token_not_found, "TOK1",
                 [] { return std::string("a token that was minted is not known"); });
}

void Workload::check_refused(const Sent& sent, const Error& error, std::int64_t asked_ms) {
  const Order& order = sent.order;
  Verdict& verdict = universe_.verdict;
  const bool damaged = judge_.is_damaged(order.session);
  const auto code = error.code();
  // With several daemons, the answer may be temporarily unknown.
  const bool is_away = daemons_.are_several() && code == Code::unavailable;
  if (order.is_reuse && !damaged && !is_away) {
    verdict.expect(code == Code::key_reused, "ACK2",
                   [&] { return "a reused key was refused as " + std::string(code_name(code)); });
  }
  if (order.is_inside && !damaged && !is_away) {
    verdict.expect(code == Code::denied || code == Code::disk_full, "TOK3", [&] {
      return "an answer from inside was refused as " + std::string(code_name(code));
    });
  }
  // Decided before it was accepted elsewhere, but reported only now.
  const bool is_late = daemons_.are_several() && asked_ms <= sent.accepted_ms;
  if (sent.accepted && !order.key.empty() && !damaged && !is_away && !is_late) {
    verdict.expect(false, "ACK3", [&] {
      return "accepted before, now refused as " + std::string(code_name(code)) + ": " +
             error.message();
    });
  }
  // A session that does not exist yet has nothing to cancel (seed 83249).
  const bool cancels =
      holds_alternative<CancelRun>(order.body) && judge_.ledger(order.session).records() > 0;
  verdict.expect(!cancels || code != Code::disk_full, "DISK2",
                 [] { return std::string("a cancel was refused because the disk is full"); });
  verdict.expect(damaged || code != Code::damaged, "DISK3",
                 [&] { return "an undamaged session is called damaged: " + error.message(); });
  const bool ours =
      code == Code::internal || code == Code::stale_owner || code == Code::storage_unknown;
  verdict.expect(!ours, "ACK1", [&] {
    return "refused as " + std::string(code_name(code)) + ": " + error.message();
  });
  const bool may_be_missing =
      sent.folder_missing || sent.is_seen_late || !has_folder(order.session);
  verdict.expect(code != Code::workspace_missing || may_be_missing, "C13",
                 [] { return std::string("the folder is there and called missing"); });
  const bool names_folder = error.message().contains("the folder /ws/");
  verdict.expect(code != Code::workspace_missing || names_folder, "C13",
                 [&] { return "which folder is gone is not said: " + error.message(); });
  check_answer_refused(order, code);
  const bool creates = holds_alternative<CreateSession>(order.body) && !order.is_reuse;
  verdict.expect(!creates || damaged || code == Code::disk_full || code == Code::unavailable,
                 "ACK1", [&] { return "a session was not made: " + error.message(); });
  const auto* resume = get_if<ResumeSession>(&order.body);
  const bool joins =
      resume && !resume->with && !resume->strict && resume->how == ResumeHow::automatic;
  verdict.expect(!joins || code != Code::conflict, "R11",
                 [] { return std::string("a resume does not join the one under way"); });
  const bool from_store = code == Code::invalid_argument && error.message().contains("outbox");
  verdict.expect(!from_store, "J3",
                 [&] { return "the store refused a batch: " + error.message(); });
  const bool to_archived = code == Code::session_archived;
  verdict.expect(!to_archived || judge_.ledger(order.session).was_ever_archived(), "C3",
                 [] { return std::string("called archived, and never was"); });
}

void Workload::check_kept(Runtime& runtime) {
  const auto expect = [&](bool condition, const std::string& key) {
    universe_.verdict.expect(condition, "ACK3",
                             [&] { return "key " + key + " is not kept as it was answered"; });
  };
  for (const Sent& sent : sent_) {
    const Order& order = sent.order;
    if (!sent.accepted || order.key.empty() || order.is_reuse) continue;
    if (judge_.is_damaged(order.session)) continue;
    const Result<std::optional<Reply>> kept = runtime.stored_reply(order.key, order.body_hash);
    expect(kept && *kept && **kept == *sent.accepted, order.key);
    const Result<std::optional<Reply>> other = runtime.stored_reply(order.key, Hash());
    expect(!other && other.error().code() == Code::key_reused, order.key);
  }
  const Result<std::optional<Reply>> unknown = runtime.stored_reply("no-such-key", Hash());
  expect(unknown && !*unknown, "no-such-key");
  for (const SessionId session : sessions_) {
    if (judge_.is_damaged(session) || judge_.ledger(session).records() == 0) continue;
    runtime.submit(session, {.by = "uid:1000", .body = NameFork{session}},
                   [this](const Result<Reply>& answer) {
                     universe_.verdict.expect(!answer, "C7", [] {
                       return std::string("a session may be its own fork");
                     });
                   });
  }
}

void Workload::check_asked_again() {
  for (const std::size_t number : asked_again_) {
    const Sent& sent = sent_[number];
    const State& state = judge_.ledger(sent.order.session).fold();
    // A deadline of milliseconds may pass before anyone could answer.
    const bool ended =
        state.last_run && (state.last_run->end == RunEnd::completed ||
                           state.last_run->interrupted == InterruptReason::wait_timeout);
    const bool well = sent.accepted && ended;
    if (!well) {
      universe_.verdict.fail("Q1", tail(sent.order.session) + ": service is not restored");
    }
  }
}

}  // namespace perdure::sim
