// Whole segments are removed: one is removed when its last frame is acked and a later segment has
// begun. So the disk holds at most one segment more than the unacked frames.
#include "agentctl/supervisor/spool.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "core/wire/agentctl/spool.h"

namespace perdure {
namespace {

// Bytes read at once; a longer frame is read in one piece of its own.
constexpr std::size_t read_bytes = 256UL << 10;
// A buffer that grew beyond this for a large frame is freed.
constexpr std::size_t recent_kept_bytes = 64UL << 10;

}  // namespace

FrameNo Spool::add(std::string_view frame) {
  CHECK(frame.size() <= frame_bytes_max, "a frame is too long for the spool");
  if (pending_.empty()) pending_first_ = next_;
  append_spool_entry(pending_, next_, frame);
  return next_++;
}

// A partial frame of the failed append ends within this one, the last: it is never read.
Result<> Spool::add_now(std::string_view frame) {
  const std::size_t before = pending_.size();
  add(frame);
  Result<> written = flush();
  if (!written) {
    pending_.resize(before);
    next_ -= 1;
  }
  return written;
}

Result<> Spool::flush() {
  if (pending_.empty()) return {};
  const bool begins =
      segments_.empty() || is_cut_ || segments_.back().bytes >= limits_.segment_bytes;
  const std::string name = spool_segment_name(begins ? pending_first_ : segments_.back().first);
  const std::uint64_t before = begins ? 0 : segments_.back().bytes;
  if (may_be_torn_) {
    // Frames after a partial frame could not be found, so remove the partial frame first.
    TRY_VOID(begins ? folder_.remove(name) : folder_.truncate(name, before));
  }
  may_be_torn_ = true;
  if (begins) {
    std::string bytes(spool_magic);
    bytes += pending_;
    TRY_VOID(folder_.append(name, bytes));
    segments_.push_back({pending_first_, 0});
    is_cut_ = false;
    add_written(bytes.size());
  } else {
    TRY_VOID(folder_.append(name, pending_));
    add_written(pending_.size());
  }
  may_be_torn_ = false;
  written_ = next_ - 1;
  recent_place_ = {pending_first_, segments_.size() - 1, begins ? spool_magic.size() : before};
  std::swap(recent_, pending_);
  pending_.clear();
  if (recent_.capacity() > recent_kept_bytes) forget_recent();
  if (pending_.capacity() > recent_kept_bytes) pending_ = {};
  return {};
}

void Spool::forget_recent() {
  recent_ = {};
  recent_place_ = {};
}

void Spool::add_written(std::uint64_t bytes) {
  segments_.back().bytes += bytes;
  bytes_ += bytes;
}

Result<> Spool::ack(FrameNo number) {
  if (number > written_) {
    return fail(Code::invalid_argument, "frame " + std::to_string(number) +
                                            " is acked and was never written; the last is " +
                                            std::to_string(written_));
  }
  acked_ = std::max(acked_, number);
  // Failure to remove a segment is not reported to the daemon: a later ack retries, and until then
  // its bytes count.
  while (segments_.size() > 1 && segments_[1].first <= acked_ + 1) {
    if (!remove_first()) return {};
  }
  // A large last segment is acked completely: remove it; the next frame begins a new one.
  const bool is_done = segments_.size() == 1 && acked_ == written_ &&
                       (is_cut_ || segments_.back().bytes >= limits_.segment_bytes);
  if (is_done && remove_first()) is_cut_ = false;
  return {};
}

bool Spool::cut() {
  if (segments_.empty()) return true;
  // No segment may begin after a partial frame: the next flush removes that frame first.
  if (may_be_torn_) return false;
  is_cut_ = true;
  static_cast<void>(ack(acked_));
  return segments_.empty();
}

Result<> Spool::remove_first() {
  TRY_VOID(folder_.remove(spool_segment_name(segments_.front().first)));
  bytes_ -= segments_.front().bytes;
  segments_.pop_front();
  if (place_.segment == 0) {
    place_ = {};
  } else {
    --place_.segment;
  }
  if (recent_place_.segment == 0) {
    forget_recent();
  } else {
    --recent_place_.segment;
  }
  return {};
}

Spool::Place Spool::find(FrameNo number) const {
  const auto behind = std::ranges::upper_bound(segments_, number, {}, &Segment::first);
  CHECK(behind != segments_.begin(), "a frame before the first segment is asked for");
  const auto segment = static_cast<std::size_t>(behind - segments_.begin()) - 1;
  return {segments_[segment].first, segment, spool_magic.size()};
}

Result<> Spool::read(FrameNo after, TakeFrame take) {
  if (after >= written_) return {};
  if (segments_.empty() || after + 1 < segments_.front().first) {
    return fail(Code::invalid_argument,
                "frames behind " + std::to_string(after) + " were acked and are gone");
  }
  if (!recent_.empty() && after + 1 >= recent_place_.next) {
    read_recent(after, take);
    return {};
  }
  Place place = place_.next == after + 1 ? place_ : find(after + 1);
  while (place.next <= written_) {
    if (!TRY(read_piece(place, after, take))) break;
  }
  place_ = place;
  return {};
}

// A reader that keeps up needs no disk access.
void Spool::read_recent(FrameNo after, TakeFrame& take) {
  SpoolWalk walk(recent_, 0);
  while (walk.next()) {
    const FrameNo number = walk.entry().number;
    if (number > after && !take(number, walk.entry().payload)) return;
    place_ = {number + 1, recent_place_.segment, recent_place_.at + walk.at()};
  }
}

Result<bool> Spool::read_piece(Place& place, FrameNo after, TakeFrame& take) {
  if (place.at >= segments_[place.segment].bytes) {
    ++place.segment;
    place.at = spool_magic.size();
    if (place.segment >= segments_.size()) {
      return fail(Code::damaged, "the spool ends before its last frame");
    }
  }
  const std::string name = spool_segment_name(segments_[place.segment].first);
  // After the known end there may be frames of a failed append, which were never reported.
  const std::uint64_t there = segments_[place.segment].bytes - place.at;
  std::string bytes = TRY(folder_.read(name, place.at, std::min<std::uint64_t>(there, read_bytes)));
  SpoolWalk walk(bytes, 0);
  std::size_t taken = 0;
  while (walk.next()) {
    if (walk.entry().number > after && !take(walk.entry().number, walk.entry().payload)) {
      place.at += taken;
      return false;
    }
    place.next = walk.entry().number + 1;
    taken = walk.at();
  }
  if (taken == 0 && walk.wanted() > bytes.size()) {
    bytes = TRY(folder_.read(name, place.at, walk.wanted()));
    SpoolWalk one(bytes, 0);
    if (!one.next()) return fail(Code::damaged, "the spool " + name + " is damaged");
    if (one.entry().number > after && !take(one.entry().number, one.entry().payload)) return false;
    place.next = one.entry().number + 1;
    taken = one.at();
  }
  if (taken == 0) return fail(Code::damaged, "the spool " + name + " is damaged");
  place.at += taken;
  return true;
}

}  // namespace perdure
