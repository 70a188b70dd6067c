#include "sim/actors/reader.h"

#include "base/limits.h"

namespace perdure::sim {

void Reader::act() {
  if (!is_connected()) return connect();
  if (universe_.prng.chance(universe_.faults.client_odd)) return leave();
  if (universe_.prng.chance(universe_.faults.reader_slow)) {
    set_room(universe_.prng.chance(500'000) ? 0 : universe_.prng.below(4));
  } else if (room_ < 1000 && universe_.faults.long_turns < 100'000) {
    set_room(1'000'000);
  }  // otherwise stalled for good, during long turns, until it is disconnected
}

void Reader::heal() {
  if (!is_connected()) connect();
  if (room_ < 1000 || is_unseen_) set_room(1'000'000);
}

void Reader::set_room(std::size_t room) {
  room_ = room;
  if (room_ == 0 || !is_connected()) return;
  // A stopped daemon notices it when it continues.
  is_unseen_ = !at_->serving();
  if (!is_unseen_) at_->serving()->drained(subscription_);
}

void Reader::connect() {
  Daemon* const at = daemons_.any();
  if (!at) return;
  const LifePtr life = at->life();
  const Acting acting(universe_.scheduler, life);
  if (universe_.prng.chance(universe_.faults.client_odd)) connect_beyond_head(*at);
  if (!at->serving()) return;
  Result<SubscriptionId> subscribed = at->serving()->subscribe(session_, cursor_, "", *this);
  if (life->dead) return;
  const bool unborn =
      !subscribed && subscribed.error().code() == Code::not_found && !universe_.healed;
  if (!subscribed) {
    // A newly created session may be on disk before its actor knows of it. Otherwise the journal
    // has the session, and the cursor was handed out. A daemon that was stopped for long may not
    // know yet what others wrote.
    const bool is_behind = daemons_.are_several() && subscribed.error().code() == Code::unavailable;
    universe_.verdict.expect(judge_.is_damaged(session_) || unborn || is_behind, "STREAM1", [&] {
      return "a good cursor is refused: " + subscribed.error().message();
    });
    return;
  }
  life_ = life;
  at_ = at;
  subscription_ = *subscribed;
}

void Reader::connect_beyond_head(Daemon& daemon) {
  const LifePtr life = daemon.life();
  Runtime& runtime = *daemon.serving();
  if (daemons_.are_several()) judge_.catch_up(session_);
  const Seq beyond = head() + 1 + universe_.prng.below(5);
  const Result<SubscriptionId> subscribed = runtime.subscribe(session_, beyond, "", *this);
  const Result<SubscriptionId> other_log = runtime.subscribe(session_, 0, "another log", *this);
  if (life->dead || judge_.is_damaged(session_)) return;
  const auto expect_refused = [&](const Result<SubscriptionId>& answer, std::string_view what) {
    const Code code = answer ? Code::internal : answer.error().code();
    const bool is_behind = daemons_.are_several() && code == Code::unavailable;
    universe_.verdict.expect(code == Code::cursor_invalid || is_behind, "STREAM3", [&] {
      return std::string(what) +
             " is not refused: " + (answer ? "a subscription" : answer.error().message());
    });
  };
  expect_refused(subscribed, "a cursor beyond the head");
  expect_refused(other_log, "a cursor of another log");
}

void Reader::leave() {
  Runtime* const runtime = at_->serving();
  if (!runtime) return;  // stopped: it does not notice a disconnect
  runtime->unsubscribe(subscription_);
  subscription_ = 0;
}

void Reader::on_records(Seq first, std::span<const std::shared_ptr<const std::string>> records) {
  if (!is_connected()) {
    universe_.verdict.expect(!life_ || life_->dead, "STREAM1",
                             [] { return std::string("records after the reader has left"); });
    return;
  }
  if (universe_.hears_late) judge_.catch_up(session_);
  universe_.verdict.expect(first == cursor_ + 1 && !records.empty(), "STREAM1", [&] {
    return tail(session_) + ": a reader at " + std::to_string(cursor_) + " is given " +
           std::to_string(first);
  });
  universe_.verdict.expect(records.size() <= room_, "STREAM4",
                           [] { return std::string("more records than there is room for"); });
  room_ -= std::min(room_, records.size());
  for (const auto& bytes : records) {
    cursor_ += 1;
    const bool known = cursor_ <= head();
    universe_.verdict.expect(known && hash64(*bytes) == judge_.ledger(session_).hash_at(cursor_),
                             life_->sync_failed ? "DISK1" : "STREAM2", [&] {
                               return tail(session_) + "/" + std::to_string(cursor_) +
                                      " was shown and is not so in the journal";
                             });
    if (universe_.verdict.is_bad()) return;
  }
  universe_.trace.note("reader", cursor_,
                       [&] { return tail(session_) + " reads to " + std::to_string(cursor_); });
}

void Reader::on_cut(Seq cursor) {
  if (!is_connected()) return;
  universe_.verdict.expect(cursor == cursor_, "STREAM4",
                           [] { return std::string("cut with another cursor than its own"); });
  subscription_ = 0;
  // C16: a reader that takes nothing is kept until it is further behind than the buffer. With
  // several daemons, a daemon that loses the session and cannot read it disconnects its readers.
  const bool is_far_behind = head() - cursor_ > subscriber_records_max;
  universe_.verdict.expect(
      is_far_behind || judge_.is_damaged(session_) || daemons_.are_several() ||
          judge_.is_to_be_removed(session_),
      "C16", [&] { return tail(session_) + ": a reader is cut that is hardly behind"; });
}

}  // namespace perdure::sim
