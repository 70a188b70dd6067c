// The runtime as one of several daemons on a store: ownership of sessions, the way of a command to
// the owner, and which daemon takes over from one that is gone. On a store with a single daemon,
// all sessions are ours.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/probe.h"
#include "daemon/registry/node.h"
#include "daemon/runtime/actor.h"
#include "daemon/runtime/care/fork.h"
#include "daemon/runtime/follower.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/reads/listing.h"
#include "daemon/runtime/reads/session_list.h"
#include "daemon/runtime/runtime.h"
#include "daemon/runtime/shared.h"

namespace perdure {
namespace {

constexpr std::int64_t look_every_ms = 1000;
constexpr std::uint64_t list_every_looks = 30;
constexpr std::size_t taken_at_once_max = 32;
constexpr int tries_max = 3;
constexpr const char* changing_hands = "the session is changing hands; try again";

// Identifies a command that is sent again, whichever daemon then owns the session.
std::string make_key(Random& random) {
  const std::uint64_t high = random.next();
  return "handed-over:" + Ulid{.high = high, .low = random.next()}.text();
}

}  // namespace

Result<> check_still_ours(Store& store, const OwnedSession& owned) {
  if (!store.is_shared()) return {};
  const std::vector<SessionId> lost = TRY(store.lost({&owned, 1}));
  if (lost.empty()) return {};
  return fail(Code::stale_owner, "the session is another daemon's now");
}

Result<Runtime::Seat> Runtime::load(SessionId session) {
  Store& store = shared_->world.store;
  if (!store.is_shared()) {
    SessionActor* const made = TRY(make_actor(session, store.epoch()));
    return Seat{.state = made->state(), .readers = made->readers(), .actor = made};
  }
  TRY(store.head(session));  // what does not exist has no owner
  const Lease lease = TRY(store.own(session));
  if (lease.epoch != 0) {
    if (TRY(take(session))) return *seat_in_memory(session);
    return fail(Code::unavailable, changing_hands);
  }
  if (followers_.size() >= shared_->config.followed_max) make_room_later();
  const LoadedSession journal = TRY(load_journal(session));
  auto made = std::make_unique<SessionFollower>(*shared_, session, journal, lease.node);
  followers_.emplace(session, std::move(made));
  return *seat_in_memory(session);
}

Result<SessionActor*> Runtime::actor_for_command(SessionId session, const InputBody& body) {
  Result<SessionActor*> found = actor(session);
  const bool is_new = !found && found.error().code() == Code::not_found;
  if (!is_new || !holds_alternative<CreateSession>(body)) return found;
  const Lease lease = TRY(shared_->world.store.own(session));
  if (lease.epoch == 0) {
    return fail(Code::unavailable, "the daemon '" + lease.node + "' makes this session; try again");
  }
  LoadedSession nothing;
  nothing.epoch = lease.epoch;
  auto made = TRY(SessionActor::create(*shared_, session, std::move(nothing)));
  return actors_.emplace(session, std::move(made)).first->second.get();
}

void Runtime::submit(SessionId session, Request request, ReplyFn reply) {
  if (!shared_->world.store.is_shared()) {
    return submit_here(session, std::move(request), std::move(reply));
  }
  hand_over(session, std::move(request), std::move(reply), tries_max);
}

// A command on its way to another daemon. Its answer may be late or never arrive: the first path
// that completes takes the reply.
struct Runtime::Handed {
  SessionId session;
  std::string node;
  Request request;
  ReplyFn reply;
  int tries = 0;
};

// The daemon to forward to; absent: this one. A session that another daemon is about to create
// cannot be followed yet.
std::optional<std::string> Runtime::who_decides(SessionId session, const InputBody& body) {
  const Result<Seat> found = seat(session);
  if (found && found->follower) return found->follower->node();
  const bool is_new = !found && found.error().code() == Code::not_found;
  if (!is_new || !holds_alternative<CreateSession>(body)) return std::nullopt;
  const Result<Lease> lease = shared_->world.store.own(session);
  if (!lease || lease->epoch != 0) return std::nullopt;
  return lease->node;
}

// Here or there; starts again if the session changed owners in the meantime, up to `tries` times.
void Runtime::hand_over(SessionId session, Request request, ReplyFn reply, int tries) {
  if (followers_.contains(session)) std::ignore = take(session);
  if (const std::optional<std::string> node = who_decides(session, request.body)) {
    return ask_peer({session, *node, std::move(request), std::move(reply), tries});
  }
  Request copy = request;
  submit_here(session, std::move(request),
              [this, session, copy = std::move(copy), reply = std::move(reply), tries,
               alive = std::weak_ptr<bool>(shared_->alive)](Result<Reply> answer) mutable {
                const bool is_stale = !answer && answer.error().code() == Code::stale_owner;
                if (alive.expired() || !is_stale) return reply(std::move(answer));
                if (tries <= 1) return reply(fail(Code::unavailable, changing_hands));
                SIM_PROBE("command of a session that changed hands asked again");
                // Not within the actor's own call.
                shared_->world.loop.post([this, session, copy = std::move(copy),
                                          reply = std::move(reply), tries, alive]() mutable {
                  if (alive.expired()) return;
                  hand_over(session, std::move(copy), std::move(reply), tries - 1);
                });
              });
}

void Runtime::ask_peer(Handed what) {
  if (!shared_->world.peers) {
    return what.reply(fail(Code::unavailable, "the session is one of the daemon '" + what.node +
                                                  "', and this one knows no way to it"));
  }
  SIM_PROBE("command handed over to the session's daemon");
  if (what.request.key.empty()) what.request.key = make_key(shared_->world.random);
  auto handed = std::make_shared<Handed>(std::move(what));
  shared_->world.peers->submit(
      handed->node, handed->session, handed->request,
      [this, handed, alive = std::weak_ptr<bool>(shared_->alive)](Result<Reply> answer) {
        if (alive.expired() || !handed->reply) return;
        const bool is_unheard = !answer && (answer.error().code() == Code::stale_owner ||
                                            answer.error().code() == Code::unavailable);
        if (is_unheard && handed->tries > 1) return hand_over_again(*handed);
        const bool is_stale = !answer && answer.error().code() == Code::stale_owner;
        if (is_stale) answer = fail(Code::unavailable, changing_hands);
        std::exchange(handed->reply, {})(std::move(answer));
      });
  watch_handed(handed);
}

void Runtime::hand_over_again(Handed& handed) {
  SIM_PROBE("command of a session that changed hands asked again");
  hand_over(handed.session, std::move(handed.request), std::exchange(handed.reply, {}),
            handed.tries - 1);
}

// A suspended daemon accepts commands but does not answer. Once the session has a new owner, the
// command goes there: the former owner can no longer execute it, and the key shows if it did.
void Runtime::watch_handed(const std::shared_ptr<Handed>& handed) {
  shared_->world.loop.after_ms(look_every_ms, [this, handed,
                                               alive = std::weak_ptr<bool>(shared_->alive)] {
    if (alive.expired() || !handed->reply) return;
    const auto followed = followers_.find(handed->session);
    const bool is_there = followed != followers_.end() && !take(handed->session).value_or(false) &&
                          followers_.contains(handed->session) &&
                          followers_.at(handed->session)->node() == handed->node;
    if (is_there || handed->tries <= 1) return watch_handed(handed);
    hand_over_again(*handed);
  });
}

bool Runtime::is_ours(SessionId session) {
  const SessionActor* const found = loaded(session);
  return found && !found->has_failed();
}

Result<std::string> Runtime::owner(SessionId session) {
  if (!shared_->world.store.is_shared()) return std::string();
  if (followers_.contains(session)) std::ignore = take(session);  // it may have a new owner
  const Seat found = TRY(seat(session));
  return found.follower ? found.follower->node() : std::string();
}

void Runtime::hint(std::span<const SessionId> sessions) {
  std::vector<SessionId> told(sessions.begin(), sessions.end());
  if (told.empty()) {
    sessions_->forget_all();
    for (const auto& [session, followed] : followers_) told.push_back(session);
  }
  for (const SessionId session : told) {
    if (followers_.contains(session)) {
      follow(session);
    } else if (!loaded(session)) {
      tell_watchers(session);
    }
  }
}

// The journal continues from the same record, but the state read from it still holds the text.
void Runtime::forget_text(std::span<const SessionId> sessions) {
  std::vector<SessionId> told(sessions.begin(), sessions.end());
  if (told.empty()) {
    for (const auto& [session, followed] : followers_) told.push_back(session);
  }
  for (const SessionId session : told) {
    const auto at = followers_.find(session);
    if (at == followers_.end()) continue;
    const Result<LoadedSession> journal = load_journal(session);
    if (!journal) {
      forget(session);
      continue;
    }
    at->second->read_anew(*journal);
    show_later(session);
  }
}

// Errors except not_found are temporary: the next look may succeed.
void Runtime::follow(SessionId session) {
  const Result<bool> moved = followers_.at(session)->catch_up();
  if (moved && *moved) show_later(session);
  if (!moved && moved.error().code() == Code::not_found) forget(session);
}

// Not within the caller's read.
void Runtime::show_later(SessionId session) {
  shared_->world.loop.post([this, session, alive = std::weak_ptr<bool>(shared_->alive)] {
    if (alive.expired()) return;
    if (const auto found = seat_in_memory(session)) found->readers.pump_all(found->state.head);
    tell_watchers(session);
  });
}

void Runtime::forget(SessionId session) {
  const auto at = followers_.find(session);
  const std::unique_ptr<SessionFollower> gone = std::move(at->second);
  followers_.erase(at);
  gone->readers().cut_all();
  tell_watchers(session);
}

bool Runtime::is_behind(SessionId session, Seq head) {
  if (!shared_->world.store.is_shared()) return false;
  const Result<SessionHead> stored = shared_->world.store.head(session);
  return !stored || stored->seq > head;  // an unavailable store does not make a cursor wrong
}

void Runtime::look_around_later() {
  if (!shared_->world.store.is_shared()) return;
  look_timer_ = shared_->world.loop.after_ms(look_every_ms,
                                             [this, alive = std::weak_ptr<bool>(shared_->alive)] {
                                               if (alive.expired()) return;
                                               look_around();
                                               look_around_later();
                                             });
}

void Runtime::look_around() {
  Store& store = shared_->world.store;
  std::vector<OwnedSession> owned;
  for (const auto& [session, found] : actors_) {
    // A session with a commit in flight learns it from that commit.
    if (found->is_quiet() && !found->has_failed()) owned.push_back(found->owned());
  }
  if (const Result<std::vector<SessionId>> lost = store.lost(owned)) {
    for (const SessionId session : *lost) actors_.at(session)->give_up();
  }
  for (const auto& [session, found] : actors_) found->go_on();
  if (ready_) {
    take_missed();
    const Result<std::vector<SessionId>> orphans = store.orphans(taken_at_once_max);
    for (std::size_t i = 0; orphans && i < orphans->size(); ++i) take_orphan((*orphans)[i]);
  }
  std::vector<SessionId> read;
  for (const auto& [session, followed] : followers_) {
    if (!followed->readers().is_empty()) read.push_back(session);
  }
  for (const SessionId session : read) follow(session);
  if (++looks_ % list_every_looks == 0) sessions_->forget_all();
  if (shared_->config.on_look) shared_->config.on_look();
}

// An incomplete fork of a daemon that is gone is useless; one of our own is in progress. A session
// that another daemon took from us is skipped until our actor has noticed: with a new lease the old
// actor would continue.
bool Runtime::take_orphan(SessionId session) {
  if (loaded(session)) return true;
  const Result<Lease> lease = shared_->world.store.own(session);
  if (!lease) return false;
  if (lease->epoch != 0 && drop_unfinished_fork(shared_->world.store, session)) return true;
  const Result<bool> taken = take(session);
  return taken || taken.error().code() != Code::unavailable;
}

// The first failure means that the store is still unavailable.
void Runtime::take_missed() {
  if (!is_listed_) {
    const Result<std::vector<SessionId>> open = shared_->world.store.open_sessions();
    if (!open) return;
    is_listed_ = true;
    missed_.insert(open->begin(), open->end());
  }
  while (!missed_.empty() && take_orphan(*missed_.begin())) missed_.erase(missed_.begin());
}

// Takes ownership of a session if it is free, and reconciles it like a boot.
Result<bool> Runtime::take(SessionId session) {
  if (loaded(session)) return true;
  Store& store = shared_->world.store;
  const Result<Lease> lease = store.own(session);
  const auto followed = followers_.find(session);
  if (!lease) return std::unexpected(lease.error());
  if (lease->epoch == 0) {
    if (followed != followers_.end()) followed->second->set_node(lease->node);
    return false;
  }
  std::unique_ptr<SessionFollower> before;
  if (followed != followers_.end()) {
    before = std::move(followed->second);
    followers_.erase(followed);
  }
  const Result<SessionActor*> found = make_actor(session, lease->epoch);
  if (!found) {
    if (before) before->readers().cut_all();
    tell_watchers(session);
    return std::unexpected(found.error());
  }
  SessionActor* const made = *found;
  SIM_PROBE("session taken over");
  if (before) made->readers().take_over(before->readers());
  // A boot examines only open sessions: a fork, or a session that a person stopped, stays as it is
  // (C1).
  if (is_open(made->state(), false)) taken_[session] = made->state().exec.id;
  made->boot();
  show_later(session);
  return true;
}

// Not within the actor's own call.
void Runtime::lose(SessionId session) {
  SIM_PROBE("session lost to another daemon");
  lost_.insert(session);
  shared_->world.loop.post([this, alive = std::weak_ptr<bool>(shared_->alive)] {
    if (!alive.expired()) drop_lost();
  });
}

void Runtime::drop_lost() {
  for (const SessionId session : std::exchange(lost_, {})) {
    const auto at = actors_.find(session);
    if (at == actors_.end() || !at->second->has_failed()) continue;
    const std::unique_ptr<SessionActor> gone = std::move(at->second);
    actors_.erase(at);
    unsettled_.erase(session);
    taken_.erase(session);
    const Result<Seat> now = seat(session);
    if (now) {
      now->readers.take_over(gone->readers());
    } else {
      gone->readers().cut_all();
    }
    show_later(session);
  }
  if (booting_ && !ready_ && unsettled_.empty()) become_ready();
}

}  // namespace perdure
