// Sending, asking again, and judging the answers.
#include "sim/workload.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace perdure::sim {
namespace {

constexpr std::int64_t patience_ms = 15'000;
constexpr int tries_max = 4;

Hash quick_hash(std::string_view text) {
  Hash hash;
  const std::uint64_t value = hash64(text);
  for (std::size_t i = 0; i < 8; ++i) hash.bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  return hash;
}

template <class Kind>
bool is(const Ledger& book, Seq seq) {
  return seq >= 1 && seq <= book.records() && book.kind_at(seq) == EventBody(Kind{}).index();
}

}  // namespace

Workload::Workload(Universe& universe, Judge& judge, Daemon& daemon)
    : universe_(universe),
      judge_(judge),
      daemon_(daemon),
      ids_({1'790'000'000'000}, universe.prng.next()) {
  sessions_max_ = 1 + universe.prng.below(4);
  const std::size_t clients = 1 + universe.prng.below(4);
  const std::size_t orders = 40 + universe.prng.below(160);
  for (std::size_t i = 0; i < clients; ++i) {
    clients_.push_back({.by = "uid:" + std::to_string(1000 + i), .left = orders / clients + 1});
  }
}

void Workload::start() {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    universe_.after(universe_.delay(1000), [this, i] { act(i); });
  }
  universe_.after(100, [this] { readers_act(); });
}

bool Workload::is_done() const {
  return open_ == 0 && std::ranges::all_of(clients_, [](const Client& c) { return c.left == 0; });
}

void Workload::act(std::size_t client) {
  if (clients_[client].left == 0 || universe_.healed) return;
  if (std::optional<Order> order = draw(clients_[client])) {
    clients_[client].left -= 1;
    const std::size_t number = add(std::move(*order));
    send(number, universe_.delay(200));
    // The same once more while the first is under way.
    const bool again =
        !sent_[number].order.key.empty() && universe_.prng.chance(universe_.faults.client_odd);
    if (again) send(number, universe_.delay(200));
  } else {
    clients_[client].left -= universe_.prng.chance(200'000) ? 1 : 0;
  }
  universe_.after(universe_.delay(8000), [this, client] { act(client); });
}

std::size_t Workload::add(Order order) {
  sent_.push_back({.order = std::move(order)});
  open_ += 1;
  const std::size_t number = sent_.size() - 1;
  universe_.after(patience_ms, [this, number] { check_back(number); });
  return number;
}

void Workload::send(std::size_t number, std::int64_t delay_ms) {
  universe_.after(delay_ms, [this, number] { submit(number); });
}

void Workload::submit(std::size_t number) {
  Runtime* const runtime = daemon_.serving();
  if (!runtime) return;  // refused connection; check_back() asks again
  const Order order = sent_[number].order;
  sent_[number].tries += 1;
  note_answers(order);
  const std::string& cwd = judge_.ledger(order.session).fold().workspace.cwd;
  sent_[number].folder_missing |= !universe_.files.folder_exists(cwd);
  sent_[number].reachable &= runtime->liveness(order.session) == Liveness::alive;
  universe_.trace.note("client", number * 64 + order.body.index(), [&] {
    return order.by + " asks #" + std::to_string(number) + " kind " +
           std::to_string(order.body.index()) + " of " + tail(order.session) +
           (sent_[number].tries > 1 ? " again" : "");
  });
  auto answered = std::make_shared<bool>(false);
  runtime->submit(
      order.session,
      {.by = order.by, .key = order.key, .body_hash = order.body_hash, .body = order.body},
      [this, number, answered, life = daemon_.life()](const Result<Reply>& answer) {
        if (life->dead) return;
        universe_.verdict.expect(!*answered, "ACK3", [] { return std::string("answered twice"); });
        *answered = true;
        on_answer(number, answer);
        universe_.crash_point(CrashPoint::after_reply);
      });
}

void Workload::check_back(std::size_t number) {
  Sent& sent = sent_[number];
  if (sent.settled) return;
  const bool can_repeat = !sent.order.key.empty();
  const bool gives_up = !universe_.healed && (!can_repeat || sent.tries >= tries_max);
  if (gives_up || (universe_.healed && !can_repeat)) {
    sent.settled = true;
    open_ -= 1;
    return;
  }
  submit(number);
  universe_.after(patience_ms, [this, number] { check_back(number); });
}

void Workload::on_answer(std::size_t number, const Result<Reply>& answer) {
  Sent& sent = sent_[number];
  universe_.trace.note("client", number * 2 + (answer ? 1 : 0), [&] {
    return "#" + std::to_string(number) +
           (answer ? " accepted at " + std::to_string(answer->seq)
                   : " refused: " + answer.error().message());
  });
  judge_.catch_up(sent.order.session);
  sent.answered = true;
  if (answer) {
    check_accepted(sent, *answer);
  } else {
    check_refused(sent, answer.error());
  }
  if (universe_.prng.chance(universe_.faults.client_odd)) return;  // the answer is lost on its way
  const bool busy = !answer && (answer.error().code() == Code::disk_full ||
                                answer.error().code() == Code::unavailable);
  if (sent.settled || (busy && !sent.order.key.empty())) return;
  sent.settled = true;
  open_ -= 1;
  if (!answer || sent.order.key.empty() || sent.order.is_reuse) return;
  if (!universe_.prng.chance(universe_.faults.client_odd)) return;
  // Later: the same again, or the key for something else.
  const std::size_t chosen = universe_.prng.below(2);
  if (chosen == 0) return send(number, universe_.delay(20'000));
  Order reuse = sent.order;
  reuse.body = RenameSession{"reuse of a key"};
  reuse.body_hash = quick_hash("reuse " + reuse.key);
  reuse.is_reuse = true;
  send(add(std::move(reuse)), universe_.delay(5000));
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
  verdict.expect(!holds_alternative<DeclareDead>(order.body) || !sent.reachable, "C19",
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
    check_effect(sent, reply);
  }
}

// What was said to have happened is in the journal, at the place that was named.
void Workload::check_effect(const Sent& sent, const Reply& reply) {
  const Order& order = sent.order;
  const bool prompts =
      holds_alternative<SubmitPrompt>(order.body) || holds_alternative<CreateSession>(order.body);
  const bool answers =
      holds_alternative<AnswerPermission>(order.body) || holds_alternative<AnswerWait>(order.body);
  if (prompts) return check_prompt(order, reply);
  if (answers) return check_answer(order, reply);
  if (holds_alternative<ResumeSession>(order.body)) return check_resume(sent, reply);
  if (!reply.nothing_to_do && !reply.already_running) check_change(order, reply);
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
}

void Workload::check_resume(const Sent& sent, const Reply& reply) {
  const Ledger& book = judge_.ledger(sent.order.session);
  // A repeat gets the answer of an earlier moment.
  universe_.verdict.expect(reply.already_running || !sent.folder_missing || sent.tries > 1, "C13",
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
    // A full disk makes a forced cancel of any.
    const bool forced = is<RunCancelled>(book, seq);
    there = there && (cancel->force ? forced : !forced || universe_.disk_full_until_ms > 0);
  }
  universe_.verdict.expect(there, "ACK1", [&] {
    return "accepted and not so in the journal at " + tail(order.session) + "/" +
           std::to_string(seq) + " (kind " + std::to_string(order.body.index()) + ")";
  });
}

void Workload::check_refused(const Sent& sent, const Error& error) {
  const Order& order = sent.order;
  Verdict& verdict = universe_.verdict;
  const bool damaged = judge_.is_damaged(order.session);
  const auto code = error.code();
  if (order.is_reuse && !damaged) {
    verdict.expect(code == Code::key_reused, "ACK2",
                   [&] { return "a reused key was refused as " + std::string(code_name(code)); });
  }
  if (order.is_inside && !damaged) {
    verdict.expect(code == Code::denied || code == Code::disk_full, "TOK3", [&] {
      return "an answer from inside was refused as " + std::string(code_name(code));
    });
  }
  if (sent.accepted && !order.key.empty() && !damaged) {
    verdict.expect(false, "ACK3", [&] {
      return "accepted before, now refused as " + std::string(code_name(code)) + ": " +
             error.message();
    });
  }
  const bool cancels = holds_alternative<CancelRun>(order.body);
  verdict.expect(!cancels || code != Code::disk_full, "DISK2",
                 [] { return std::string("a cancel was refused because the disk is full"); });
  verdict.expect(damaged || code != Code::damaged, "DISK3",
                 [&] { return "an undamaged session is called damaged: " + error.message(); });
  const bool ours =
      code == Code::internal || code == Code::stale_owner || code == Code::storage_unknown;
  verdict.expect(!ours, "ACK1", [&] {
    return "refused as " + std::string(code_name(code)) + ": " + error.message();
  });
  verdict.expect(code != Code::workspace_missing || sent.folder_missing, "C13",
                 [] { return std::string("the folder is there and called missing"); });
  const bool names_folder = error.message().contains("the folder /ws/");
  verdict.expect(code != Code::workspace_missing || names_folder, "C13",
                 [&] { return "which folder is gone is not said: " + error.message(); });
  if (const auto* wait = get_if<AnswerWait>(&order.body); wait && code == Code::token_expired) {
    const Ledger::Token& token = judge_.ledger(order.session).tokens().at(wait->token);
    const bool over = token.status == TokenStatus::expired ||
                      (token.expires && token.expires->remaining_ms(universe_.clock.now()) == 0);
    verdict.expect(over, "C15", [] { return std::string("called expired before its time"); });
  }
  verdict.expect(code != Code::token_not_found, "TOK1",
                 [] { return std::string("a token that was minted is not known"); });
  const bool creates = holds_alternative<CreateSession>(order.body) && !order.is_reuse;
  verdict.expect(!creates || damaged || code == Code::disk_full || code == Code::unavailable,
                 "ACK1", [&] { return "a session was not made: " + error.message(); });
  const auto* resume = get_if<ResumeSession>(&order.body);
  const bool joins = resume && !resume->with && resume->how == ResumeHow::automatic;
  verdict.expect(!joins || code != Code::conflict, "R11",
                 [] { return std::string("a resume does not join the one under way"); });
  const bool from_store = code == Code::invalid_argument && error.message().contains("outbox");
  verdict.expect(!from_store, "J3",
                 [&] { return "the store refused a batch: " + error.message(); });
  const bool to_archived = code == Code::session_archived;
  verdict.expect(!to_archived || judge_.ledger(order.session).was_ever_archived(), "C3",
                 [] { return std::string("called archived, and never was"); });
}

void Workload::note_answers(const Order& order) {
  if (const auto* prompt = get_if<SubmitPrompt>(&order.body))
    judge_.note_prompt(order.key, prompt->when);
  if (const auto* create = get_if<CreateSession>(&order.body); create && create->prompt) {
    judge_.note_prompt(order.key, PromptWhen::automatic);
  }
  if (holds_alternative<StartWorkspace>(order.body)) judge_.note_workspace(order.session);
  if (order.is_inside || order.wrong_secret) return;
  if (const auto* answer = get_if<AnswerPermission>(&order.body)) {
    judge_.note_answer({order.by, answer->permission, WaitTokenId(), answer->option_id});
  } else if (const auto* wait = get_if<AnswerWait>(&order.body)) {
    judge_.note_answer({order.by, PermissionId(), wait->token, wait->option_id});
  }
}

// Comes with a cursor that somebody may have been given: what the disk has and the daemon has not
// shown yet is nobody's cursor (seed 13994).
void Workload::add_reader(SessionId session) {
  Runtime* const runtime = daemon_.serving();
  if (!runtime) return;
  const Result<State> state = runtime->state(session);
  if (!state) return;
  const Seq cursor = universe_.prng.below(state->head + 1);
  readers_.push_back(std::make_unique<Reader>(universe_, judge_, daemon_, session, cursor));
}

void Workload::readers_act() {
  if (universe_.healed) return;
  for (const auto& [session, book] : judge_.ledgers()) {
    if (book->records() == 0) continue;
    if (readers_.size() < 6 && universe_.prng.chance(200'000)) add_reader(session);
  }
  for (const auto& reader : readers_) {
    if (universe_.prng.chance(300'000)) reader->act();
  }
  universe_.after(100 + universe_.delay(2000), [this] { readers_act(); });
}

bool Workload::all_read() const {
  return std::ranges::all_of(readers_, [](const auto& reader) { return reader->is_at_head(); });
}

void Workload::heal() {
  healed_ms_ = universe_.scheduler.now_ms();
  for (Client& client : clients_) client.left = 0;
  // A retry tells: whoever never got an answer asks until there is one.
  for (std::size_t number = 0; number < sent_.size(); ++number) {
    Sent& sent = sent_[number];
    if (!sent.settled || sent.answered || sent.order.key.empty()) continue;
    sent.settled = false;
    open_ += 1;
    check_back(number);
  }
}

// The person at the desk, once the storm is over.
bool Workload::care() {
  for (const auto& reader : readers_) reader->heal();
  const Client nurse{.by = "uid:0"};
  bool quiet = open_ == 0;
  const bool patient = universe_.scheduler.now_ms() < healed_ms_ + 120'000;
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || book->records() == 0) continue;
    const State& state = book->fold();
    for (const auto& [id, permission] : state.permissions) {
      quiet = false;
      const auto& offered = book->permissions().at(id).options;
      submit(add(
          make(nurse, session, AnswerPermission{id, offered.empty() ? "" : offered.front().id})));
    }
    if (state.run && !patient) submit(add(make(nurse, session, CancelRun{})));
    if (state.queue_held && !state.archived) {
      quiet = false;
      submit(add(make(nurse, session, ReleaseQueue{})));
    }
    const bool queued = !state.queue.empty() && !state.archived;
    // A limit ends by itself, and what goes on behind it is part of coming to rest (P13); not one
    // whose reset lies far off, because the agent's clock and ours disagreed.
    const bool limited = patient && state.limit;
    if (state.run || state.resume || queued || limited) quiet = false;
    // Whoever is asked again must not fall into a death that the daemon has not heard of.
    const bool may_live = state.exec.status != ExecutorStatus::none && !state.exec.gone;
    Runtime* const runtime = daemon_.serving();
    if (may_live && (!runtime || runtime->liveness(session) != Liveness::alive)) quiet = false;
    if (state.exec.status != ExecutorStatus::none && !state.exec.gone &&
        state.exec.stop_requested) {
      quiet = false;
    }
  }
  return quiet && all_read();
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
    const Result<std::optional<Reply>> other = runtime.stored_reply(order.key, quick_hash("x"));
    expect(!other && other.error().code() == Code::key_reused, order.key);
  }
  const Result<std::optional<Reply>> unknown = runtime.stored_reply("no-such-key", Hash());
  expect(unknown && !*unknown, "no-such-key");
}

void Workload::resume_all_at_boot() {
  const Client nurse{.by = "uid:0"};
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || book->records() == 0 || book->fold().archived) continue;
    SessionConfigured what{.policy = book->fold().policy};
    what.policy->resume = ResumePolicy::on_boot;
    submit(add(make(nurse, session, ConfigureSession{std::move(what)})));
  }
}

void Workload::ask_all_again() {
  const Client nurse{.by = "uid:0"};
  healed_ms_ = universe_.scheduler.now_ms();
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || book->records() == 0 || book->fold().archived) continue;
    const std::size_t number = add(draw_prompt(nurse, session));
    asked_again_.push_back(number);
    submit(number);
  }
}

void Workload::check_asked_again() {
  for (const std::size_t number : asked_again_) {
    const Sent& sent = sent_[number];
    const State& state = judge_.ledger(sent.order.session).fold();
    // A question with a deadline of milliseconds may pass before anybody could answer.
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
