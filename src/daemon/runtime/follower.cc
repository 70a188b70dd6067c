#include "daemon/runtime/follower.h"

#include "base/limits.h"
#include "base/probe.h"
#include "core/session/machine.h"
#include "core/session/transitions/draft.h"

namespace perdure {

SessionFollower::SessionFollower(ActorShared& shared, SessionId session,
                                 const LoadedSession& loaded, std::string node)
    : shared_(shared),
      session_(session),
      state_(loaded.state),
      chain_(loaded.state.head, loaded.head_hash),
      node_(std::move(node)),
      readers_(shared, session) {}

Result<bool> SessionFollower::catch_up() {
  const Seq before = state_.head;
  while (true) {
    const RecordPage page =
        TRY(shared_.world.store.read(session_, {.after = state_.head, .limit = page_records_max}));
    if (page.records.empty()) return state_.head > before;
    SIM_PROBE("session of another daemon read along");
    for (const std::string& bytes : page.records) {
      const DecodedRecord decoded = TRY(chain_.add(bytes));
      state_ = evolve(std::move(state_), decoded.record.event);
    }
  }
}

void SessionFollower::read_anew(const LoadedSession& loaded) {
  state_ = loaded.state;
  chain_ = ChainVerifier(loaded.state.head, loaded.head_hash);
  readers_.forget_recent();
}

Liveness SessionFollower::liveness() const {
  if (!execution_may_live(state_)) return Liveness::dead;
  return state_.exec.status == ExecutorStatus::ready ? Liveness::alive : Liveness::unknown;
}

}  // namespace perdure
