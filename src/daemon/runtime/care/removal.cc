#include "daemon/runtime/care/removal.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/limits.h"
#include "core/session/transitions/draft.h"
#include "core/wire/journal/record.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {
namespace {

// The hash of this record as stored; null if it cannot be read.
Hash stored_hash(Store& store, SessionId session, Seq seq) {
  const Result<RecordPage> page = store.read(session, {.after = seq - 1, .limit = 1});
  return page && !page->records.empty() ? record_hash(page->records.front()) : Hash();
}

// Whether it exists, has no records since its tombstone, and is not a new session with the same id.
bool is_as_buried(Store& store, const Tombstone& tombstone) {
  const Result<SessionHead> head = store.head(tombstone.session);
  if (!head || tombstone.last_hash == Hash()) return false;
  return stored_hash(store, tombstone.session, head->seq) == tombstone.last_hash;
}

// One removal in progress. The watch on the runtime and the callbacks keep it alive until it ends.
class Removal : public std::enable_shared_from_this<Removal> {
 public:
  using Done = std::move_only_function<void(Result<>)>;

  Removal(Runtime& runtime, Node& node, RemovalOrder order, Done done)
      : runtime_(runtime), node_(node), order_(std::move(order)), done_(std::move(done)) {}

  void start() {
    watch_ = runtime_.watch([self = shared_from_this()](SessionId changed) {
      if (changed == self->order_.session) self->look_again();
    });
    timer_ = runtime_.loop().after_ms(removal_stop_ms, [self = shared_from_this()] {
      self->timer_ = 0;
      self->finish(fail(Code::unavailable, "the session did not stop; try again"));
    });
    look_again();
  }

 private:
  // Never within a call of the runtime: the session's actor may be the caller.
  void look_again() {
    if (std::exchange(looking_, true)) return;
    runtime_.loop().post([self = shared_from_this(), alive = runtime_.alive()] {
      self->looking_ = false;
      if (!alive.expired() && self->done_) self->step();
    });
  }

  void step() {
    const Result<State> state = runtime_.state(order_.session);
    // If it is damaged, what is alive is unknown: remove it only if that is forced.
    const bool may_live =
        state ? execution_may_live(*state) || state->run : order_.mode == RemovalMode::only_stopped;
    if (!state && state.error().code() == Code::not_found) {
      return finish(std::unexpected(state.error()));
    }
    if (may_live && order_.mode == RemovalMode::only_stopped) {
      return finish(fail(Code::conflict, "the session runs or may run; stop it first, or force"));
    }
    if (may_live) return stop(state ? state->exec.gen : 0);
    if (!buried_) return bury(state);
    const Result<> erased = runtime_.erase(order_.session);
    if (!erased && erased.error().code() == Code::unavailable) return look_later();
    finish(erased);
  }

  // Each execution once: a read of the workspace may start another in the meantime.
  void stop(Gen gen) {
    if (std::exchange(stopped_, gen) == gen) return;
    runtime_.submit(order_.session,
                    {.by = order_.request.by, .body = StopSession{.reason = "deleted"}},
                    [self = shared_from_this()](const Result<Reply>& stopped) {
                      if (!stopped) self->finish(std::unexpected(stopped.error()));
                    });
  }

  // The session's state when nothing of it was alive.
  void bury(const Result<State>& state) {
    if (std::exchange(burying_, true)) return;
    Tombstone tombstone{.session = order_.session,
                        .title = state ? state->title : std::string(),
                        .deleted = runtime_.world_of(order_.session).now.wall,
                        .by = order_.request.by};
    if (state) tombstone.last_hash = stored_hash(runtime_.store(), order_.session, state->head);
    node_.add_tombstone(order_.request, std::move(tombstone),
                        [self = shared_from_this()](Result<> buried) {
                          self->burying_ = false;
                          self->buried_ = buried.has_value();
                          if (!buried) return self->finish(std::move(buried));
                          self->look_again();
                        });
  }

  // A commit is in flight; it may end without a notification.
  void look_later() {
    runtime_.loop().after_ms(10, [self = shared_from_this()] {
      if (self->done_) self->look_again();
    });
  }

  void finish(Result<> result) {
    if (!done_) return;
    runtime_.unwatch(watch_);
    runtime_.loop().cancel(timer_);
    std::exchange(done_, {})(std::move(result));
  }

  Runtime& runtime_;
  Node& node_;
  RemovalOrder order_;
  Done done_;
  std::uint64_t watch_ = 0;
  Loop::TimerId timer_ = 0;
  bool looking_ = false;
  std::optional<Gen> stopped_;  // the execution already stopped
  bool burying_ = false;
  bool buried_ = false;
};

}  // namespace

void remove_session(Runtime& runtime, Node& node, RemovalOrder order,
                    std::move_only_function<void(Result<>)> done) {
  std::make_shared<Removal>(runtime, node, std::move(order), std::move(done))->start();
}

Result<std::size_t> finish_removals(Store& store, const NodeState& node) {
  std::size_t removed = 0;
  for (const auto& [session, tombstone] : node.tombstones) {
    if (!is_as_buried(store, tombstone)) continue;
    const Lease lease = TRY(store.own(session));
    if (lease.epoch == 0) continue;
    if (!is_as_buried(store, tombstone)) continue;  // no other writer adds to it from here on
    TRY_VOID(store.remove(session));
    removed += 1;
  }
  return removed;
}

}  // namespace perdure
