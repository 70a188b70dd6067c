#include "daemon/runtime/reads/past.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

class StateFold final : public JournalFold {
 public:
  StateFold(State from, std::shared_ptr<StateMarks> marks)
      : state_(std::move(from)), marks_(std::move(marks)) {}

  Result<> add(Seq seq, std::string_view bytes) override {
    state_ = evolve(std::move(state_), TRY(decode_record(bytes)).record.event);
    marks_->offer(seq, state_);
    return {};
  }
  State take() { return std::move(state_); }

 private:
  State state_;
  std::shared_ptr<StateMarks> marks_;
};

}  // namespace

StateMarks::At StateMarks::before(Seq seq) const {
  const auto next = marks_.upper_bound(seq);
  if (next == marks_.begin()) return {};
  const auto found = std::prev(next);
  return {found->first, found->second};
}

void StateMarks::offer(Seq seq, const State& state) {
  if (seq % stride_ != 0) return;
  marks_.emplace(seq, state);
  if (marks_.size() <= past_states_max) return;
  stride_ *= 2;
  std::erase_if(marks_, [this](const auto& mark) { return mark.first % stride_ != 0; });
}

KeptPast::Kept& KeptPast::kept(SessionId session) {
  // Another daemon may have redacted a record without notifying this one.
  if (runtime_.store().is_shared()) sessions_.erase(session);
  Kept& found = sessions_[session];
  found.used = ++uses_;
  if (sessions_.size() > past_sessions_max) {
    sessions_.erase(std::ranges::min_element(sessions_, {},
                                             [](const auto& entry) { return entry.second.used; }));
  }
  return found;
}

void KeptPast::timeline(SessionId session, Seq upto, OnTimeline done) {
  const std::shared_ptr<Timeline> timeline = kept(session).timeline;
  scan_journal(runtime_, session, {.after = std::min(timeline->last(), upto), .upto = upto},
               timeline, [timeline, done = std::move(done)](Result<> scanned) mutable {
                 if (!scanned) return done(std::unexpected(scanned.error()));
                 done(timeline);
               });
}

void KeptPast::state(SessionId session, Seq seq, OnState done) {
  const std::shared_ptr<StateMarks> marks = kept(session).states;
  StateMarks::At from = marks->before(seq);
  const auto fold = std::make_shared<StateFold>(std::move(from.state), marks);
  scan_journal(runtime_, session, {.after = from.seq, .upto = seq}, fold,
               [fold, done = std::move(done)](Result<> scanned) mutable {
                 if (!scanned) return done(std::unexpected(scanned.error()));
                 done(fold->take());
               });
}

}  // namespace perdure
