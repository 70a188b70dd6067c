#include "daemon/runtime/runtime.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "base/probe.h"
#include "core/session/transitions/draft.h"
#include "core/wire/agentctl/reply.h"
#include "daemon/runtime/actor.h"
#include "daemon/runtime/care/fork.h"
#include "daemon/runtime/follower.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/reads/session_list.h"
#include "daemon/runtime/shared.h"

namespace perdure {
namespace {

// C1: active (K12) when its agent was lost, with a context to restore or inject.
bool resumes_at_boot(const State& state) {
  const bool is_lost = !state.resume && !agent_ready(state);
  return state.policy.resume == ResumePolicy::on_boot && is_lost &&
         derive_resume(state, {.liveness = Liveness::dead}).needs_resume;
}

}  // namespace

Runtime::Runtime(World world, RuntimeConfig config)
    : shared_(
          std::make_unique<ActorShared>(ActorShared{.world = world, .config = std::move(config)})),
      sessions_(std::make_unique<SessionList>(*this, world.store)) {
  shared_->on_quiet = [this](SessionId session) { settle(session); };
  shared_->on_changed = [this](SessionId session) { tell_watchers(session); };
  shared_->on_reader_cut = [this](SubscriptionId id) { subscriptions_.erase(id); };
  shared_->on_lost = [this](SessionId session) { lose(session); };
}

Runtime::~Runtime() {
  for (const Loop::TimerId timer : {probe_timer_, look_timer_, boot_timer_})
    shared_->world.loop.cancel(timer);
}

void Runtime::boot(std::move_only_function<void()> ready) {
  on_ready_ = std::move(ready);
  booting_ = true;
  const Result<std::vector<SessionId>> open = shared_->world.store.open_sessions();
  is_listed_ = open || open.error().code() != Code::unavailable;
  if (!open && is_listed_) damaged_.emplace(SessionId(), open.error());
  for (std::size_t i = 0; open && i < open->size(); ++i) boot_one((*open)[i]);
  look_around_later();
  probe_timer_ = shared_->world.loop.after_ms(
      reconcile_probe_ms, [this, alive = std::weak_ptr<bool>(shared_->alive)] {
        if (alive.expired()) return;
        probe_timer_ = 0;
        if (!ready_) SIM_PROBE("reconcile gave up waiting for a probe");
        become_ready();
      });
  if (unsettled_.empty()) {
    shared_->world.loop.post([this, alive = std::weak_ptr<bool>(shared_->alive)] {
      if (!alive.expired()) become_ready();
    });
  }
}

void Runtime::boot_one(SessionId session) {
  // If the server is unavailable, it is not queried again for each session.
  const bool is_away = shared_->world.store.is_shared() && !missed_.empty();
  const Result<Lease> lease =
      is_away ? fail(Code::unavailable, "the store is away") : shared_->world.store.own(session);
  if (!lease) missed_.insert(session);
  if (!lease || lease->epoch == 0) return;  // another daemon was faster
  if (drop_unfinished_fork(shared_->world.store, session)) return;
  const Result<SessionActor*> found = make_actor(session, lease->epoch);
  if (!found) return;  // in damaged_ or missed_; the others are served
  unsettled_.insert(session);
  taken_[session] = (*found)->state().exec.id;
  (*found)->boot();
}

void Runtime::settle(SessionId session) {
  if (!booting_) return;
  if (ready_) {
    look_whether_lost_before(session);
    if (!resume_at_boot_.empty()) resume_next_at_boot();
    return;
  }
  const SessionActor* const found = loaded(session);
  if (found && !found->is_settled()) return;
  unsettled_.erase(session);
  if (unsettled_.empty()) become_ready();
}

// Once, when settled: executions started and lost since then were not lost before the boot.
void Runtime::look_whether_lost_before(SessionId session) {
  const SessionActor* const found = loaded(session);
  if (found && !found->is_settled()) return;
  const auto taken = taken_.extract(session);
  if (!found || !taken || taken.mapped() != found->state().exec.id) return;
  if (resumes_at_boot(found->state())) resume_at_boot_.emplace_back(session, taken.mapped());
}

void Runtime::become_ready() {
  if (ready_) return;
  ready_ = true;
  std::vector<SessionId> taken;
  for (const auto& [session, exec] : taken_) taken.push_back(session);
  for (const SessionId session : taken) look_whether_lost_before(session);
  if (on_ready_) on_ready_();
  resume_next_at_boot();
}

// A few at a time: ten agents starting at once would do more harm than good.
void Runtime::resume_next_at_boot() {
  const auto under_way =
      static_cast<std::size_t>(std::ranges::count_if(actors_, [this](const auto& entry) {
        const auto& order = entry.second->state().resume;
        return (order && order->at_boot) || asked_at_boot_.contains(entry.first);
      }));
  std::size_t free =
      shared_->config.resume_parallel - std::min(under_way, shared_->config.resume_parallel);
  while (free > 0 && !resume_at_boot_.empty()) {
    const auto [session, exec] = resume_at_boot_.front();
    resume_at_boot_.erase(resume_at_boot_.begin());
    const Result<SessionActor*> found = actor(session);
    // A prompt in the meantime has already resumed it.
    if (!found || (*found)->state().exec.id != exec || !resumes_at_boot((*found)->state())) {
      continue;
    }
    SIM_PROBE("agent resumed at boot by policy");
    asked_at_boot_.insert(session);
    (*found)->submit({.by = "system", .body = ResumeSession{.at_boot = true}},
                     [this, session, exec,
                      alive = std::weak_ptr<bool>(shared_->alive)](const Result<Reply>& answer) {
                       if (!alive.expired()) asked_at_boot(session, exec, answer);
                     });
    free -= 1;
  }
}

// A failure is recorded; if the store rejected the command, it is retried.
void Runtime::asked_at_boot(SessionId session, ExecId exec, const Result<Reply>& answer) {
  asked_at_boot_.erase(session);
  if (answer) return;
  const Code code = answer.error().code();
  if (code == Code::disk_full || code == Code::unavailable) {
    refused_at_boot_.emplace_back(session, exec);
  }
  if (boot_timer_ != 0) return;
  boot_timer_ = shared_->world.loop.after_ms(boot_resume_again_ms,
                                             [this, alive = std::weak_ptr<bool>(shared_->alive)] {
                                               if (!alive.expired()) resume_refused_at_boot();
                                             });
}

void Runtime::resume_refused_at_boot() {
  boot_timer_ = 0;
  for (const auto& refused : std::exchange(refused_at_boot_, {})) {
    SIM_PROBE("resume at boot asked for again");
    resume_at_boot_.push_back(refused);
  }
  resume_next_at_boot();
}

SessionActor* Runtime::loaded(SessionId session) {
  const auto at = actors_.find(session);
  return at == actors_.end() ? nullptr : at->second.get();
}

std::optional<Runtime::Seat> Runtime::seat_in_memory(SessionId session) {
  if (SessionActor* const found = loaded(session)) {
    return Seat{.state = found->state(), .readers = found->readers(), .actor = found};
  }
  const auto at = followers_.find(session);
  if (at == followers_.end()) return std::nullopt;
  SessionFollower& followed = *at->second;
  return Seat{.state = followed.state(), .readers = followed.readers(), .follower = &followed};
}

Result<Runtime::Seat> Runtime::seat(SessionId session) {
  if (const std::optional<Seat> found = seat_in_memory(session)) {
    if (found->follower) follow(session);
    if (const std::optional<Seat> still = seat_in_memory(session)) return *still;
    return fail(Code::not_found, "no such session");
  }
  return load(session);
}

Result<SessionActor*> Runtime::actor(SessionId session) {
  if (SessionActor* const found = loaded(session)) return found;
  const Seat found = TRY(seat(session));
  if (found.actor) return found.actor;
  return fail(Code::stale_owner,
              "the session is one of the daemon '" + found.follower->node() + "'");
}

Result<LoadedSession> Runtime::load_journal(SessionId session) {
  Result<LoadedSession> journal = load_session(shared_->world.store, session);
  const std::optional<Code> code = journal ? std::nullopt : std::optional(journal.error().code());
  if (!code) {
    damaged_.erase(session);
  } else if (*code != Code::not_found && *code != Code::unavailable) {
    SIM_PROBE("damaged session quarantined");
    damaged_.insert_or_assign(session, journal.error());
  }
  return journal;
}

Result<SessionActor*> Runtime::make_actor(SessionId session, std::uint64_t epoch) {
  if (actors_.size() >= shared_->config.actors_max) make_room_later();
  Result<LoadedSession> read = load_journal(session);
  if (!read && read.error().code() == Code::unavailable) missed_.insert(session);
  LoadedSession journal = TRY(std::move(read));
  journal.epoch = epoch;
  Result<std::unique_ptr<SessionActor>> made =
      SessionActor::create(*shared_, session, std::move(journal));
  if (!made) {
    damaged_.insert_or_assign(session, made.error());
    return std::unexpected(std::move(made).error());
  }
  return actors_.emplace(session, std::move(*made)).first->second.get();
}

// Not within the caller's load: an actor that is answering looks idle.
void Runtime::make_room_later() {
  if (std::exchange(is_making_room_, true)) return;
  shared_->world.loop.post([this, alive = std::weak_ptr<bool>(shared_->alive)] {
    if (alive.expired()) return;
    is_making_room_ = false;
    std::erase_if(actors_, [](const auto& entry) { return entry.second->is_idle(); });
    std::erase_if(followers_, [](const auto& entry) { return entry.second->readers().is_empty(); });
  });
}

void Runtime::submit_here(SessionId session, Request request, ReplyFn reply) {
  const Result<SessionActor*> found = actor_for_command(session, request.body);
  if (!found) {
    reply(std::unexpected(found.error()));
    return;
  }
  if (auto* declared = get_if<DeclareDead>(&request.body)) {
    declared->reachable = (*found)->liveness() == Liveness::alive;
  }
  (*found)->submit(std::move(request), std::move(reply));
}

Result<State> Runtime::state(SessionId session) {
  const Seat found = TRY(seat(session));
  if (found.state.head == 0) return fail(Code::not_found, "no such session");
  return found.state;
}

Result<std::optional<Reply>> Runtime::stored_reply(const std::string& key, const Hash& body_hash) {
  if (key.empty()) return std::nullopt;
  const std::optional<StoredAnswer> stored = TRY(shared_->world.store.answer(key));
  if (!stored) return std::nullopt;
  if (stored->body != body_hash) {
    return fail(Code::key_reused, "the idempotency key was used before with another request");
  }
  return TRY(decode_reply(stored->answer));
}

Liveness Runtime::liveness(SessionId session) {
  const std::optional<Seat> found = seat_in_memory(session);
  if (!found) return Liveness::dead;
  return found->actor ? found->actor->liveness() : found->follower->liveness();
}

Result<SessionView> Runtime::view(SessionId session) {
  const Seat found = TRY(seat(session));
  if (found.state.head == 0) return fail(Code::not_found, "no such session");
  return project_session(found.state, world_of(session));
}

const State* Runtime::state_in_memory(SessionId session) {
  const std::optional<Seat> found = seat_in_memory(session);
  return found && found->state.head > 0 ? &found->state : nullptr;
}

perdure::World Runtime::world_of(SessionId session) {
  // Another daemon's session is shown as its owner shows it.
  const auto followed = followers_.find(session);
  return perdure::World{.liveness = liveness(session),
                        .boot = followed == followers_.end() ? shared_->config.boot
                                                             : followed->second->state().exec.boot,
                        .now = shared_->world.clock.now()};
}

std::size_t Runtime::connections(SessionId session) {
  const std::optional<Seat> found = seat_in_memory(session);
  return found ? found->readers.size() : 0;
}

Store& Runtime::store() { return shared_->world.store; }
Loop& Runtime::loop() { return shared_->world.loop; }
std::weak_ptr<bool> Runtime::alive() const { return shared_->alive; }

void Runtime::forget_recent(SessionId session) {
  if (const auto found = seat_in_memory(session)) found->readers.forget_recent();
}

Result<> Runtime::between_commits(SessionId session, std::move_only_function<void()> run) {
  SessionActor* const found = TRY(actor(session));
  found->between_commits(std::move(run));
  return {};
}

void Runtime::replace_text(SessionId session, State state,
                           std::move_only_function<void(Result<>)> done) {
  SessionActor* const found = loaded(session);
  if (!found) return done(fail(Code::stale_owner, "the session is another daemon's now"));
  found->replace_text(std::move(state), std::move(done));
}

bool Runtime::sends_any(SessionId session, std::span<const std::string> texts) {
  const SessionActor* const found = loaded(session);
  return found && found->outbox().holds_any(texts);
}

Result<> Runtime::erase(SessionId session) {
  const Lease lease = TRY(shared_->world.store.own(session));
  if (lease.epoch == 0) return fail(Code::stale_owner, "the session is another daemon's");
  SessionActor* const found = loaded(session);
  if (found && (execution_may_live(found->state()) || found->state().run)) {
    return fail(Code::conflict, "the session still runs");
  }
  if (found && !found->is_quiet()) {
    return fail(Code::unavailable, "a commit of the session is under way");
  }
  TRY_VOID(shared_->world.store.remove(session));
  if (found) found->readers().cut_all();
  actors_.erase(session);
  damaged_.erase(session);
  std::erase_if(subscriptions_, [&](const auto& entry) { return entry.second == session; });
  tell_watchers(session);
  return {};
}

Result<SubscriptionId> Runtime::subscribe(SessionId session, Seq after, const std::string& log_id,
                                          RecordSink& sink) {
  const Seat found = TRY(seat(session));
  const Seq head = found.state.head;
  if (head == 0) return fail(Code::not_found, "no such session");
  if (!log_id.empty() && log_id != shared_->world.store.log_id()) {
    return fail(Code::cursor_invalid, "the cursor belongs to another log; start over");
  }
  if (after > head && is_behind(session, head)) {
    return fail(Code::unavailable, "another daemon may have gone on with the session; try again");
  }
  if (after > head) {
    SIM_PROBE("cursor beyond the head refused");
    return fail(Code::cursor_invalid, "the cursor " + std::to_string(after) +
                                          " is beyond the head " + std::to_string(head));
  }
  const SubscriptionId id = ++last_subscription_;
  subscriptions_.emplace(id, session);
  found.readers.add(id, after, sink);
  // Not within the call: the caller does not know its id yet.
  shared_->world.loop.post([this, id, alive = std::weak_ptr<bool>(shared_->alive)] {
    if (!alive.expired()) drained(id);
  });
  return id;
}

void Runtime::unsubscribe(SubscriptionId subscription) {
  const auto at = subscriptions_.find(subscription);
  if (at == subscriptions_.end()) return;
  if (const auto found = seat_in_memory(at->second)) found->readers.remove(subscription);
  subscriptions_.erase(at);
}

void Runtime::drained(SubscriptionId subscription) {
  const auto at = subscriptions_.find(subscription);
  if (at == subscriptions_.end()) return;
  if (const auto found = seat_in_memory(at->second)) {
    found->readers.pump(subscription, found->state.head);
  }
}

std::uint64_t Runtime::watch(OnChanged changed) {
  watchers_.emplace(++last_watcher_, std::move(changed));
  return last_watcher_;
}

// A watcher may remove itself or add others while it is called.
void Runtime::tell_watchers(SessionId session) {
  sessions_->changed(session);
  for (auto next = watchers_.begin(); next != watchers_.end();) {
    const std::uint64_t number = next->first;
    const OnChanged told = next->second;
    told(session);
    next = watchers_.upper_bound(number);
  }
}

void Runtime::fork(SessionId from, Seq at, SessionId to, const std::string& by, ReplyFn reply) {
  start_fork(*shared_, {.from = from, .at = at, .to = to, .by = by}, std::move(reply));
}

std::uint64_t Runtime::dropped_frames() const { return shared_->dropped_frames; }

Result<SessionId> Runtime::find_session(std::string_view ref) {
  const std::optional<SessionId> found = TRY(shared_->world.store.find_ref(ref));
  if (!found) return fail(Code::not_found, "there is no " + std::string(ref));
  return *found;
}

const EventCounts& Runtime::counts() const { return shared_->counts; }

std::string Runtime::wait_secret(WaitTokenId token) const {
  return make_wait_secret(shared_->config.wait_key, token);
}

void Runtime::on_attached(const ExecKey& exec) {
  if (SessionActor* const found = loaded(exec.session)) found->attached(exec);
}

void Runtime::on_frame(const ExecKey& exec, Frame frame) {
  if (SessionActor* const found = loaded(exec.session)) found->frame(std::move(frame));
}

void Runtime::on_commands_acted(const ExecKey& exec, std::uint64_t number) {
  if (SessionActor* const found = loaded(exec.session)) found->commands_acted(exec, number);
}

void Runtime::on_detached(const ExecKey& exec) {
  if (SessionActor* const found = loaded(exec.session)) found->detached(exec);
}

void Runtime::on_gone(const ExecKey& exec, const ExecEnding& ending) {
  if (SessionActor* const found = loaded(exec.session)) found->gone(exec, ending);
}

}  // namespace perdure
