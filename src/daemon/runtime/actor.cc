#include "daemon/runtime/actor.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/probe.h"
#include "core/session/transitions/draft.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/reads/journal_reader.h"
#include "daemon/runtime/reads/listing.h"

namespace perdure {
namespace {

constexpr std::int64_t disk_retry_ms = 1000;
constexpr std::int64_t outbox_flush_ms = 1000;
constexpr int tries_max = 3;

}  // namespace

Result<std::unique_ptr<SessionActor>> SessionActor::create(ActorShared& shared, SessionId session,
                                                           LoadedSession loaded) {
  const std::vector<OutboxRow> rows = std::move(loaded.outbox);
  std::unique_ptr<SessionActor> actor(new SessionActor(shared, session, std::move(loaded)));
  TRY_VOID(actor->outbox_.add(rows));
  actor->arm_timer();
  return actor;
}

SessionActor::SessionActor(ActorShared& shared, SessionId session, LoadedSession loaded)
    : shared_(shared),
      session_(session),
      epoch_(loaded.epoch),
      state_(std::move(loaded.state)),
      head_hash_(loaded.head_hash),
      cursor_(loaded.cursor),
      snapshot_at_(loaded.snapshot),
      outbox_(shared, {session, loaded.epoch},
              [this](std::uint64_t row, const PrepareInjection& effect) {
                return inject(row, effect);
              }),
      readers_(shared, session) {}

SessionActor::~SessionActor() {
  for (const Loop::TimerId timer : {deadline_timer_, retry_timer_, flush_timer_}) {
    shared_.world.loop.cancel(timer);
  }
}

void SessionActor::submit(Request request, ReplyFn reply) {
  if (failed_) {
    reply(std::unexpected(*failed_));
    return;
  }
  if (inbox_.size() >= inbox_inputs_max) {
    reply(fail(Code::limit_reached, "the session has too many requests waiting; try again"));
    return;
  }
  enqueue({.request = std::move(request), .reply = std::move(reply), .from_client = true});
}

void SessionActor::input(InputBody body, std::uint64_t ends_effect) {
  if (failed_) return;
  enqueue({.request = {.by = "system", .body = std::move(body)}, .ends_effect = ends_effect});
}

void SessionActor::boot() {
  input(DaemonBooted{});
  if (!execution_may_live(state_)) {
    outbox_.run(state_);
    return;
  }
  looked_for_ = true;
  if (!is_at_home(shared_, state_)) {
    SIM_PROBE("execution out of reach offered to daemons at its home");
    offer();
    outbox_.run(state_);
    return;
  }
  FAILPOINT("reattach.before");
  // A start not known to have succeeded is run again by the outbox, and attaches.
  const bool never_started =
      outbox_.has_start_of(state_.exec.id) && state_.exec.status == ExecutorStatus::starting;
  if (!state_.policy.survive && !never_started) {
    // C9: this agent should have ended with its daemon. It gets no new work.
    ending_ = state_.exec.id;
    shared_.world.agentctls.attach(launch_spec(state_), epoch_,
                                   cursor_ && cursor_->exec == state_.exec.id ? cursor_->frame : 0);
    shared_.world.agentctls.stop({session_, state_.exec.id, state_.exec.gen});
  } else if (!never_started) {
    shared_.world.agentctls.attach(launch_spec(state_), epoch_,
                                   cursor_ && cursor_->exec == state_.exec.id ? cursor_->frame : 0);
  }
  outbox_.run(state_);
}

// If rejected, another daemon owns it, or the store is unavailable and the next look offers it.
void SessionActor::offer() {
  is_to_be_offered_ = !shared_.world.store.offer(owned(), state_.exec.home);
}

void SessionActor::go_on() {
  if (failed_) return;
  if (is_to_be_offered_ && execution_may_live(state_)) offer();
  outbox_.run(state_);
  if (outbox_.has_done()) flush_later();
}

void SessionActor::give_up() {
  if (!failed_) failed_.emplace(Code::stale_owner, "the session is another daemon's now");
  refuse_waiting();
  shared_.world.agentctls.let_go({session_, state_.exec.id, state_.exec.gen});
  shared_.on_lost(session_);
}

// No further input is accepted: waiting clients receive the reason.
void SessionActor::refuse_waiting() {
  for (Waiting& waiting : std::exchange(inbox_, {})) {
    if (waiting.reply) waiting.reply(std::unexpected(*failed_));
  }
}

bool SessionActor::concerns_present(const ExecKey& exec) const {
  return exec.exec == state_.exec.id && exec.gen == state_.exec.gen && !state_.exec.gone;
}

void SessionActor::attached(const ExecKey& exec) {
  if (!concerns_present(exec) || exec.exec == ending_) return;
  looked_for_ = true;
  input(ExecutorAttached{exec.exec, exec.gen});
  outbox_.attached(state_);
  FAILPOINT("reattach.after");
  shared_.on_changed(session_);
}

void SessionActor::detached(const ExecKey& exec) {
  if (!concerns_present(exec)) return;
  outbox_.detached();
  shared_.on_changed(session_);
}

void SessionActor::frame(Frame frame) { input(std::move(frame)); }

void SessionActor::commands_acted(const ExecKey& exec, std::uint64_t number) {
  outbox_.commands_acted(exec.exec, number);
  if (outbox_.has_done()) flush_later();
}

void SessionActor::gone(const ExecKey& exec, const ExecEnding& ending) {
  if (concerns_present(exec)) outbox_.detached();
  input(ExecutorGone{exec.exec, exec.gen, ending.proof, ending.code});
}

Liveness SessionActor::liveness() const {
  if (!execution_may_live(state_)) return Liveness::dead;
  return outbox_.is_attached() ? Liveness::alive : Liveness::unknown;
}

bool SessionActor::is_settled() const {
  return is_quiet() && (!execution_may_live(state_) || outbox_.is_attached() || failed_ ||
                        !is_at_home(shared_, state_));
}

bool SessionActor::is_idle() const {
  return is_quiet() && readers_.is_empty() && !outbox_.has_done() &&
         !is_open(state_, !outbox_.is_empty());
}

void SessionActor::enqueue(Waiting waiting) {
  inbox_.push_back(std::move(waiting));
  schedule();
}

void SessionActor::schedule() {
  if (scheduled_ || in_flight_) return;
  if (held_up_ && std::ranges::none_of(inbox_, &Waiting::from_client)) return;
  scheduled_ = true;
  shared_.world.loop.post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    scheduled_ = false;
    pump();
  });
}

// While the disk is full, frames and inputs after them wait; clients' commands pass, and a cancel
// does not wait for frames that cannot be written (DISK2).
std::optional<Waiting> SessionActor::next_waiting() {
  const auto at = held_up_ ? std::ranges::find_if(inbox_, &Waiting::from_client) : inbox_.begin();
  if (at == inbox_.end()) return std::nullopt;
  Waiting waiting = std::move(*at);
  inbox_.erase(at);
  if (auto* cancel = get_if<CancelRun>(&waiting.request.body);
      cancel && held_up_ == Code::disk_full) {
    SIM_PROBE("cancel while the disk is full");
    cancel->force = true;
  }
  return waiting;
}

void SessionActor::pump() {
  if (in_flight_ || failed_) return;
  auto batch = std::make_unique<Batch>(shared_, session_, state_, head_hash_, cursor_);
  while (batch->size() < batch_inputs_max && batch->bytes() < batch_bytes_max) {
    std::optional<Waiting> waiting = next_waiting();
    if (!waiting) break;
    batch->take(std::move(*waiting));
    // One command at a time while the disk is full: each is accepted or rejected separately.
    if (held_up_) break;
  }
  // While the disk is full, the removal of finished effects waits, too.
  if (batch->size() == 0 && (held_up_ || !outbox_.has_done())) return;
  if (!held_up_) removing_ = outbox_.take_done();
  batch->effects_done.insert(batch->effects_done.end(), removing_.begin(), removing_.end());
  if (batch->needs_commit()) {
    commit(std::move(batch));
    return;
  }
  // Answers without a commit rely on what this daemon knows. If it was suspended for longer than
  // its lease, that may be outdated.
  if (batch->has_replies()) {
    if (const Result<> ours = check_still_ours(shared_.world.store, owned()); !ours) {
      return on_refused(*batch, ours.error());
    }
  }
  shared_.dropped_frames += batch->dropped;
  answer(*batch);
  if (!inbox_.empty()) schedule();
  if (is_quiet()) shared_.on_quiet(session_);
}

void SessionActor::commit(std::unique_ptr<Batch> batch) {
  Append append = batch->make_append(epoch_);
  if (batch->state.head / snapshot_every_records != snapshot_at_ / snapshot_every_records) {
    append.snapshot = snapshot_to_keep(batch->state);
  }
  // A finished row stays on disk until a commit removes it: until then reconcile has to examine the
  // session, otherwise the row would never be removed.
  const bool has_effects = !batch->effects.empty() || !outbox_.is_empty() || outbox_.has_done();
  listing_in_flight_ = make_listing(shared_, batch->state, has_effects);
  if (listing_in_flight_ != listing_) append.listing = listing_in_flight_;
  in_flight_ = std::move(batch);
  FAILPOINT("accept.before_commit");
  // The store answers on its own thread: only the loop may continue.
  shared_.world.store.append(
      std::move(append),
      [this, &loop = shared_.world.loop, alive = std::weak_ptr<bool>(alive_)](Result<> result) {
        loop.post([this, alive, result = std::move(result)] {
          if (!alive.expired()) on_committed(result);
        });
      });
}

void SessionActor::on_committed(const Result<>& result) {
  const std::unique_ptr<Batch> batch = std::move(in_flight_);
  CHECK(batch != nullptr);
  if (result) {
    on_durable(*batch);
  } else {
    on_refused(*batch, result.error());
  }
  if (on_replaced_) std::exchange(on_replaced_, {})(result);
  run_between_commits();
  if (!inbox_.empty()) schedule();
  if (is_quiet()) shared_.on_quiet(session_);
}

void SessionActor::between_commits(std::move_only_function<void()> run) {
  between_commits_.push_back(std::move(run));
  run_between_commits();
}

void SessionActor::run_between_commits() {
  while (!in_flight_ && !between_commits_.empty()) {
    std::move_only_function<void()> run = std::move(between_commits_.front());
    between_commits_.pop_front();
    run();
  }
}

void SessionActor::replace_text(State state, std::move_only_function<void(Result<>)> done) {
  CHECK(!in_flight_ && state.head == state_.head, "a state is replaced by one of another place");
  if (failed_) return done(std::unexpected(*failed_));
  state_ = std::move(state);
  listing_.reset();
  on_replaced_ = std::move(done);
  auto batch = std::make_unique<Batch>(shared_, session_, state_, head_hash_, cursor_);
  removing_ = outbox_.take_done();
  batch->effects_done = removing_;
  commit(std::move(batch));
}

void SessionActor::on_durable(Batch& batch) {
  FAILPOINT("accept.after_commit");
  const Seq first = state_.head + 1;
  held_up_.reset();
  listing_ = std::move(listing_in_flight_);
  if (batch.state.head / snapshot_every_records != snapshot_at_ / snapshot_every_records) {
    snapshot_at_ = batch.state.head;
  }
  state_ = std::move(batch.state);
  head_hash_ = batch.head_hash;
  const bool cursor_moved = cursor_ != batch.cursor;
  cursor_ = batch.cursor;
  shared_.dropped_frames += batch.dropped;
  shared_.counts.add(batch.counts);
  outbox_.removed(batch.effects_done);
  removing_.clear();
  CHECK(outbox_.add(batch.effects).has_value(), "an effect of our own cannot be read");
  answer(batch);
  FAILPOINT("reply.after");
  readers_.publish(first, batch.records);
  if (cursor_moved && cursor_->exec == state_.exec.id && !state_.exec.gone) {
    FAILPOINT("frame.before_ack");
    shared_.world.agentctls.ack({session_, cursor_->exec, state_.exec.gen}, cursor_->frame);
  }
  outbox_.run(state_);
  if (outbox_.has_done()) flush_later();
  arm_timer();
  shared_.on_changed(session_);
}

void SessionActor::on_refused(Batch& batch, const Error& error) {
  outbox_.put_back_done(removing_);
  removing_.clear();
  batch.give_standing_answers();
  std::deque<Waiting> back = batch.take_back();
  const bool again = error.code() == Code::conflict;  // another session used the key first
  // Both are temporary: nothing was recorded, and a retry may succeed.
  const bool full = error.code() == Code::disk_full || error.code() == Code::unavailable;
  if (!again && !full) failed_ = error;
  for (auto at = back.rbegin(); at != back.rend(); ++at) {
    // Inputs that do not come from a client would never be resent.
    const bool keep = at->from_client ? again && at->tries <= tries_max : again || full;
    if (keep) {
      inbox_.push_front(std::move(*at));
    } else if (at->reply) {
      at->reply(std::unexpected(error));
    }
  }
  if (failed_) refuse_waiting();
  if (error.code() == Code::stale_owner) give_up();
  if (!full) return;
  SIM_PROBE("commit refused: disk full");
  held_up_ = error.code();
  if (retry_timer_ != 0) return;
  retry_timer_ =
      shared_.world.loop.after_ms(disk_retry_ms, [this, alive = std::weak_ptr<bool>(alive_)] {
        if (alive.expired()) return;
        retry_timer_ = 0;
        held_up_.reset();
        schedule();
      });
}

void SessionActor::answer(Batch& batch) {
  for (Answered& answered : batch.take_answers()) {
    if (answered.reply) answered.reply(std::move(answered.result));
  }
}

// Timers are a function of the state: the earliest deadline, armed again after every commit.
void SessionActor::arm_timer() {
  shared_.world.loop.cancel(deadline_timer_);
  deadline_timer_ = 0;
  const Moment now = shared_.world.clock.now();
  std::int64_t soonest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [token, wait] : state_.waits) {
    if (wait.deadline) soonest = std::min(soonest, wait.deadline->remaining_ms(now));
  }
  if (execution_may_live(state_) && state_.exec.status == ExecutorStatus::starting) {
    soonest = std::min(soonest, state_.exec.ready_by.remaining_ms(now));
  }
  if (state_.limit) soonest = std::min(soonest, state_.limit->until.remaining_ms(now));
  if (soonest == std::numeric_limits<std::int64_t>::max()) return;
  deadline_timer_ =
      shared_.world.loop.after_ms(soonest, [this, alive = std::weak_ptr<bool>(alive_)] {
        if (alive.expired()) return;
        deadline_timer_ = 0;
        on_timer();
      });
}

void SessionActor::on_timer() {
  const Moment now = shared_.world.clock.now();
  bool any = false;
  for (const auto& [token, wait] : state_.waits) {
    if (!wait.deadline || wait.deadline->remaining_ms(now) > 0) continue;
    input(WaitDeadlinePassed{token});
    any = true;
  }
  if (execution_may_live(state_) && state_.exec.status == ExecutorStatus::starting &&
      state_.exec.ready_by.remaining_ms(now) == 0) {
    input(ReadyDeadlinePassed{state_.exec.id, state_.exec.gen});
    any = true;
  }
  if (state_.limit && state_.limit->until.remaining_ms(now) == 0) {
    input(LimitResetPassed{state_.limit->run});
    any = true;
  }
  if (!any) arm_timer();  // woken early
}

// The removal of finished effects is part of the next commit, or of a separate one a little later:
// an fsync for each would be wasteful, and running a finished effect again does nothing.
void SessionActor::flush_later() {
  if (flush_timer_ != 0) return;
  flush_timer_ =
      shared_.world.loop.after_ms(outbox_flush_ms, [this, alive = std::weak_ptr<bool>(alive_)] {
        if (alive.expired()) return;
        flush_timer_ = 0;
        if (outbox_.has_done()) schedule();
      });
}

// If the store is unavailable, the next look retries; if the history is unreadable for another
// reason it always will be, and then nothing may be written.
bool SessionActor::inject(std::uint64_t row, const PrepareInjection& effect) {
  Result<ResumeContext> context = read_resume_context(shared_.world.store, session_,
                                                      {.history_from = effect.history_from,
                                                       .boundary = effect.boundary,
                                                       .turns_of = state_.context.history_prompts});
  if (!context) {
    if (context.error().code() == Code::unavailable) return false;
    failed_ = std::move(context).error();
    refuse_waiting();
    return true;
  }
  input(InjectionReady{.boundary = effect.boundary,
                       .text = context->text,
                       .turns = context->turns,
                       .turns_of = context->turns_of,
                       .chars = context->chars},
        row);
  return true;
}

}  // namespace perdure
