#include "store/sqlite/index/index_flush.h"

#include <algorithm>

#include "store/sqlite/index/codec.h"
#include "store/sqlite/index/extents.h"
#include "store/sqlite/schema.h"

namespace perdure {

Result<IndexFlush> IndexFlush::create(Db& db, SessionIndex& index) {
  IndexFlush out(db, index);
  out.last_extent_ = TRY(db.prepare(
      "SELECT first_seq, packed FROM extents WHERE sid = ? ORDER BY first_seq DESC LIMIT 1"));
  out.put_extent_ =
      TRY(db.prepare("INSERT OR REPLACE INTO extents(sid, first_seq, packed) VALUES(?, ?, ?)"));
  out.put_head_ =
      TRY(db.prepare("INSERT INTO heads(sid, head, cursor) VALUES(?1, ?2, ?3) "
                     "ON CONFLICT(sid) DO UPDATE SET head = ?2, cursor = ?3"));
  // A never flushed session has no row yet: with head 0 the log is read as if there were none.
  out.put_good_ =
      TRY(db.prepare("INSERT INTO heads(sid, head, good) VALUES(?1, 0, ?2) "
                     "ON CONFLICT(sid) DO UPDATE SET good = ?2"));
  return out;
}

Result<bool> IndexFlush::write(const Slice& slice) {
  states_ = index_->oldest_dirty(slice.before, slice.sessions_max);
  damage_ = index_->unsaved_damage();
  if (states_.empty() && damage_.empty()) return false;
  for (const IndexedSession* state : states_) TRY_VOID(write_session(*state));
  for (const auto& [sid, good] : damage_) TRY_VOID(write_good(sid, good));
  const std::uint64_t watermark = index_->watermark_without(states_.size(), slice.next_pos);
  TRY_VOID(set_meta(*db_, meta::indexed, static_cast<std::int64_t>(watermark)));
  return true;
}

void IndexFlush::committed() {
  index_->flushed(states_);
  index_->damage_saved(damage_);
}

Result<> IndexFlush::write_session(const IndexedSession& state) {
  TRY_VOID(write_extents(state));
  return write_head(state);
}

Result<> IndexFlush::write_head(const IndexedSession& state) {
  const std::string cursor = cursor_bytes(state.cursor);
  return put_head_.bind_u64(1, state.sid).bind_u64(2, state.head).bind_blob(3, cursor).run();
}

Result<> IndexFlush::write_good(std::uint64_t sid, Seq good) {
  return put_good_.bind_u64(1, sid).bind_u64(2, good).run();
}

Result<> IndexFlush::write_watermark(std::uint64_t next_pos) {
  const std::uint64_t watermark = index_->watermark_without(0, next_pos);
  return set_meta(*db_, meta::indexed, static_cast<std::int64_t>(watermark));
}

Result<> IndexFlush::write_extents(const IndexedSession& state) {
  if (state.tail.empty()) return {};
  std::vector<EntryRef> refs;
  Seq first_seq = state.flushed + 1;
  {
    // Fill up the last extent if it has room. Leave it alone if it cannot be read.
    Query query(last_extent_);
    if (TRY(query->bind_u64(1, state.sid).step())) {
      const ExtentKey key{.sid = state.sid, .first_seq = query->u64(0)};
      auto last = unpack_extent(key, query->bytes(1));
      if (last && last->size() < extent_entries_max &&
          key.first_seq + records_in(*last) == first_seq) {
        refs = *std::move(last);
        first_seq = key.first_seq;
      }
    }
  }
  refs.insert(refs.end(), state.tail.begin(), state.tail.end());
  std::span<const EntryRef> rest(refs);
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), extent_entries_max));
    TRY_VOID(write_extent(state.sid, first_seq, part));
    first_seq += records_in(part);
    rest = rest.subspan(part.size());
  }
  return {};
}

Result<> IndexFlush::write_extent(std::uint64_t sid, Seq first_seq,
                                  std::span<const EntryRef> refs) {
  const std::string packed = pack_extent({.sid = sid, .first_seq = first_seq}, refs);
  return put_extent_.bind_u64(1, sid).bind_u64(2, first_seq).bind_blob(3, packed).run();
}

}  // namespace perdure
