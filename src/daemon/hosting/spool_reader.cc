// Reads segment after segment in pieces; memory holds one piece or one frame.
#include "daemon/hosting/spool_reader.h"

#include <algorithm>
#include <utility>

namespace perdure {
namespace {

constexpr std::size_t piece_bytes = 1UL << 20;

}  // namespace

Result<SpoolReader> SpoolReader::create(Folder& folder, FrameNo after) {
  SpoolReader reader(folder, after);
  std::vector<FrameNo> firsts;
  for (const std::string& name : TRY(folder.list())) {
    if (const auto first = spool_segment_first(name)) firsts.push_back(*first);
  }
  // Segments that end before the first requested frame are skipped.
  const auto behind = std::ranges::upper_bound(firsts, after + 1);
  if (behind != firsts.begin()) firsts.erase(firsts.begin(), behind - 1);
  reader.segments_.assign(firsts.rbegin(), firsts.rend());
  return reader;
}

Result<bool> SpoolReader::open_segment() {
  if (segments_.empty()) return false;
  name_ = spool_segment_name(segments_.back());
  segments_.pop_back();
  piece_.clear();
  in_piece_ = 0;
  piece_at_ = spool_magic.size();
  if (TRY(folder_->read(name_, 0, spool_magic.size())) == spool_magic) return true;
  // Only the last segment can have a cut beginning.
  if (!segments_.empty()) return fail(Code::damaged, name_ + " is not a spool segment");
  torn_bytes_ = TRY(folder_->size(name_));
  name_.clear();
  return false;
}

Result<std::optional<SpoolEntry>> SpoolReader::next_in_segment() {
  while (true) {
    SpoolWalk walk(piece_, in_piece_);
    if (walk.next()) {
      in_piece_ = walk.at();
      return walk.entry();
    }
    const std::uint64_t at = piece_at_ + in_piece_;
    const std::size_t rest = piece_.size() - in_piece_;
    std::string piece = TRY(folder_->read(name_, at, std::max(piece_bytes, walk.wanted())));
    if (piece.size() == rest) {  // reading on brings nothing new
      torn_bytes_ = rest;
      return std::nullopt;
    }
    piece_ = std::move(piece);
    piece_at_ = at;
    in_piece_ = 0;
  }
}

Result<std::optional<SpoolEntry>> SpoolReader::next() {
  while (true) {
    if (name_.empty() && !TRY(open_segment())) return std::nullopt;
    const std::optional<SpoolEntry> entry = TRY(next_in_segment());
    if (!entry) {
      name_.clear();
      continue;
    }
    if (entry->number < next_) continue;
    if (entry->number > next_) {
      return fail(Code::damaged, "the spool has frame " + std::to_string(entry->number) +
                                     " but not " + std::to_string(next_));
    }
    ++next_;
    return entry;
  }
}

}  // namespace perdure
