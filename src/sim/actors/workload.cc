// Sending, retrying, and the person that resolves waits after the faults have ended.
#include "sim/actors/workload.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace perdure::sim {
namespace {

constexpr std::int64_t patience_ms = 15'000;
constexpr int tries_max = 4;
constexpr std::int64_t near_ms = 20'000;  // the longest deadline in any policy here

Hash quick_hash(std::string_view text) {
  Hash hash;
  const std::uint64_t value = hash64(text);
  for (std::size_t i = 0; i < 8; ++i) hash.bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  return hash;
}

}  // namespace

Workload::Workload(Universe& universe, Judge& judge, Daemons& daemons)
    : universe_(universe),
      judge_(judge),
      daemons_(daemons),
      ids_({1'790'000'000'000}, universe.prng.next()) {
  daemons.have_seen = [this](const Daemon& daemon, SessionId session, Seq head) {
    return std::ranges::all_of(readers_, [&](const auto& reader) {
      return !reader->is_waiting_at(daemon, session, head);
    });
  };
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
  if (universe_.faults.meddling > 0) universe_.after(100, [this] { meddle(); });
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
    // Sends the same request again while the first is in flight.
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

bool Workload::has_folder(SessionId session) {
  return universe_.files.folder_exists(judge_.ledger(session).fold().workspace.cwd);
}

void Workload::submit(std::size_t number) {
  Daemon* const at = daemons_.any();
  if (!at) return;  // connection refused; check_back() retries
  Runtime* const runtime = at->serving();
  const Acting acting(universe_.scheduler, at->life());
  const Order order = sent_[number].order;
  sent_[number].tries += 1;
  note_answers(order);
  sent_[number].asked_at = judge_.ledger(order.session).records();
  sent_[number].folder_missing |= !has_folder(order.session);
  sent_[number].reachable &= runtime->liveness(order.session) == Liveness::alive;
  // With several daemons it is decided later and elsewhere: both facts may have changed by then.
  sent_[number].is_seen_late |= daemons_.are_several();
  universe_.trace.note("client", number * 64 + order.body.index(), [&] {
    return order.by + " asks #" + std::to_string(number) + " kind " +
           std::to_string(order.body.index()) + " of " + tail(order.session) +
           (sent_[number].tries > 1 ? " again" : "");
  });
  auto answered = std::make_shared<bool>(false);
  const std::string owner = daemons_.settled_owner(order.session);
  runtime->submit(
      order.session,
      {.by = order.by, .key = order.key, .body_hash = order.body_hash, .body = order.body},
      [this, number, answered, owner, asked_ms = universe_.scheduler.now_ms(),
       life = at->life()](const Result<Reply>& answer) {
        if (life->dead) return;
        universe_.verdict.expect(!*answered, "ACK3", [] { return std::string("answered twice"); });
        *answered = true;
        if (answer && life->sync_failed)
          check_after_failed_sync(sent_[number].order, *answer, *life);
        check_reached(sent_[number], answer, owner);
        on_answer(number, answer, asked_ms);
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

void Workload::on_answer(std::size_t number, const Result<Reply>& answer, std::int64_t asked_ms) {
  Sent& sent = sent_[number];
  universe_.trace.note("client", number * 2 + (answer ? 1 : 0), [&] {
    return "#" + std::to_string(number) +
           (answer ? " accepted at " + std::to_string(answer->seq)
                   : " refused: " + answer.error().message());
  });
  judge_.catch_up(sent.order.session);
  sent.answered = true;
  sent.is_put_off = !answer && (answer.error().code() == Code::disk_full ||
                                answer.error().code() == Code::unavailable);
  if (answer) {
    check_accepted(sent, *answer);
  } else {
    check_refused(sent, answer.error(), asked_ms);
  }
  if (universe_.prng.chance(universe_.faults.client_odd)) return;  // the answer is lost in transit
  if (sent.settled || (sent.is_put_off && !sent.order.key.empty())) return;
  sent.settled = true;
  open_ -= 1;
  if (!answer || sent.order.key.empty() || sent.order.is_reuse) return;
  if (!universe_.prng.chance(universe_.faults.client_odd)) return;
  // Later: the same request again, or its key for a different request.
  const std::size_t chosen = universe_.prng.below(2);
  if (chosen == 0) return send(number, universe_.delay(20'000));
  Order reuse = sent.order;
  reuse.body = RenameSession{"reuse of a key"};
  reuse.body_hash = quick_hash("reuse " + reuse.key);
  reuse.is_reuse = true;
  send(add(std::move(reuse)), universe_.delay(5000));
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

// Starts with a cursor that a client may have: records on disk that the daemon has not shown yet
// are in no client's cursor (seed 13994).
void Workload::add_reader(SessionId session) {
  Daemon* const at = daemons_.any();
  if (!at) return;
  const Acting acting(universe_.scheduler, at->life());
  const Result<State> state = at->serving()->state(session);
  if (!state) return;
  const Seq cursor = universe_.prng.below(state->head + 1);
  readers_.push_back(std::make_unique<Reader>(universe_, judge_, daemons_, session, cursor));
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

// A client that looks often and interferes with everything on its way to a turn.
void Workload::meddle() {
  const bool is_over = universe_.healed ? !universe_.agents_are_busy : is_done();
  if (is_over) return;
  for (const SessionId session : sessions_) {
    if (meddling_left_ == 0) return;
    if (judge_.is_damaged(session) || !universe_.meddler_prng.chance(500'000)) continue;
    std::optional<Order> order = draw_meddling(session);
    if (!order) continue;
    meddling_left_ -= 1;
    send(add(std::move(*order)), 0);
  }
  universe_.after(universe_.meddler_prng.between(20, 400), [this] { meddle(); });
}

std::string Workload::unread() const {
  for (const auto& reader : readers_) {
    if (!reader->is_at_head()) return reader->text();
  }
  return {};
}

void Workload::heal() {
  healed_ms_ = universe_.scheduler.now_ms();
  for (Client& client : clients_) client.left = 0;
  // A retry gives certainty: a client without an answer retries until it has one.
  for (std::size_t number = 0; number < sent_.size(); ++number) {
    Sent& sent = sent_[number];
    const bool knows = sent.answered && !sent.is_put_off;
    if (!sent.settled || knows || sent.order.key.empty()) continue;
    sent.settled = false;
    open_ += 1;
    check_back(number);
  }
}

// The person that resolves waits after the faults have ended.
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
      // A question whose deadline is near is left to expire (C15).
      const auto& expires = book->tokens().at(book->permissions().at(id).token).expires;
      if (expires && expires->remaining_ms(universe_.clock.now()) <= near_ms) continue;
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
    // A limit ends on its own, and the runs after it belong to coming to rest (P13); but not if its
    // reset is far away because the agent's clock and ours disagreed.
    const bool limited = patient && state.limit;
    if (state.run || state.resume || queued || limited) quiet = false;
    // Do not prompt an agent whose death the daemon has not noticed yet.
    const bool may_live = state.exec.status != ExecutorStatus::none && !state.exec.gone;
    Runtime* const runtime = daemons_.owner(session);
    if (may_live && (!runtime || runtime->liveness(session) != Liveness::alive)) quiet = false;
    if (state.exec.status != ExecutorStatus::none && !state.exec.gone &&
        state.exec.stop_requested) {
      quiet = false;
    }
  }
  return quiet && all_read();
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

void Workload::set_wait(std::int64_t longest_ms) {
  const Client nurse{.by = "uid:0"};
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || book->records() == 0 || book->fold().archived) continue;
    SessionConfigured what{.policy = book->fold().policy};
    what.policy->wait_ms = longest_ms == 0 ? 0 : universe_.meddler_prng.between(500, longest_ms);
    submit(add(make(nurse, session, ConfigureSession{std::move(what)})));
  }
}

void Workload::meddle_now() {
  set_wait(2'000);
  meddling_left_ = 200;
  meddle();
}

void Workload::stop_meddling() { set_wait(0); }

void Workload::fork_all() {
  const Client nurse{.by = "uid:0"};
  for (const SessionId session : std::vector(sessions_)) fork(nurse, session, 0);
}

void Workload::stop_all() {
  const Client nurse{.by = "uid:0"};
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || book->records() == 0 || book->fold().archived) continue;
    submit(add(make(nurse, session, StopSession{})));
  }
}

void Workload::cancel_all() {
  const Client nurse{.by = "uid:0"};
  for (const auto& [session, book] : judge_.ledgers()) {
    if (judge_.is_damaged(session) || !book->fold().run) continue;
    submit(add(make(nurse, session, CancelRun{})));
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

}  // namespace perdure::sim
