#include "store/sqlite/eraser.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "store/sqlite/index/extents.h"
#include "store/sqlite/schema.h"

namespace perdure {
namespace {

constexpr std::size_t slice_entries_max = 32;

constexpr std::array<const char*, 7> doom_sql = {
    "INSERT INTO doomed(sid) VALUES(?)",
    "DELETE FROM sessions WHERE sid = ?",
    "DELETE FROM heads WHERE sid = ?",
    "DELETE FROM outbox WHERE sid = ?",
    "DELETE FROM refs WHERE sid = ?",
    "DELETE FROM snapshots WHERE sid = ?",
    "DELETE FROM blobs WHERE hash IN (SELECT hash FROM blob_owners WHERE sid = ?1) "
    "AND hash NOT IN (SELECT hash FROM blob_owners WHERE sid <> ?1 "
    "AND hash IN (SELECT hash FROM blob_owners WHERE sid = ?1))",
};

}  // namespace

Result<Eraser> Eraser::create(Db& db) {
  Eraser out(db, TRY(LogReader::create(db)));
  out.next_doomed_ = TRY(db.prepare("SELECT sid FROM doomed ORDER BY sid LIMIT 1"));
  out.first_extent_ = TRY(
      db.prepare("SELECT first_seq, packed FROM extents WHERE sid = ? ORDER BY first_seq LIMIT 1"));
  out.delete_extent_ = TRY(db.prepare("DELETE FROM extents WHERE sid = ? AND first_seq = ?"));
  out.put_extent_ = TRY(db.prepare("INSERT INTO extents(sid, first_seq, packed) VALUES(?, ?, ?)"));
  out.undoom_ = TRY(db.prepare("DELETE FROM doomed WHERE sid = ?"));
  out.read_row_ = TRY(db.prepare("SELECT data FROM log WHERE pos = ?"));
  out.write_row_ = TRY(db.prepare("UPDATE log SET data = ?2 WHERE pos = ?1"));
  out.delete_rows_ = TRY(db.prepare("DELETE FROM log WHERE pos >= ? AND pos < ?"));
  return out;
}

Result<> Eraser::forget_redactions(std::uint64_t sid) {
  if (!TRY(has_redactions(*db_))) return {};
  Statement forget = TRY(db_->prepare("DELETE FROM redactions WHERE sid = ?"));
  return forget.bind_u64(1, sid).run();
}

Result<> Eraser::doom(std::uint64_t sid) {
  for (const char* sql : doom_sql) {
    Statement statement = TRY(db_->prepare(sql));
    TRY_VOID(statement.bind_u64(1, sid).run());
  }
  TRY_VOID(forget_redactions(sid));
  Statement owners = TRY(db_->prepare("DELETE FROM blob_owners WHERE sid = ?"));
  TRY_VOID(owners.bind_u64(1, sid).run());
  behind_ = true;
  return {};
}

Result<> Eraser::slice(SearchProjection& search, std::uint64_t indexed) {
  log_.forget();
  std::uint64_t sid = 0;
  {
    Query query(next_doomed_);
    behind_ = TRY(query->step());
    if (!behind_) return {};
    sid = query->u64(0);
  }
  ExtentKey key{.sid = sid};
  std::vector<EntryRef> refs;
  {
    Query query(first_extent_);
    if (!TRY(query->bind_u64(1, sid).step())) return undoom_.bind_u64(1, sid).run();
    key.first_seq = query->u64(0);
    // An extent that cannot be read is dropped: its records stay, but cannot be found.
    refs = unpack_extent(key, query->bytes(1)).value_or(std::vector<EntryRef>());
  }
  const std::size_t count = std::min(refs.size(), slice_entries_max);
  std::vector<std::uint64_t> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    TRY_VOID(search.remove(refs[i]));
    TRY_VOID(erase(refs[i], sid, blocks));
  }
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (const std::uint64_t block : blocks) TRY_VOID(drop_if_empty(block, indexed));
  TRY_VOID(delete_extent_.bind_u64(1, sid).bind_u64(2, key.first_seq).run());
  if (count == refs.size()) return {};
  const std::span<const EntryRef> rest = std::span<const EntryRef>(refs).subspan(count);
  key.first_seq += records_in(std::span<const EntryRef>(refs).first(count));
  const std::string packed = pack_extent(key, rest);
  return put_extent_.bind_u64(1, sid).bind_u64(2, key.first_seq).bind_blob(3, packed).run();
}

Result<> Eraser::erase(const EntryRef& ref, std::uint64_t sid, std::vector<std::uint64_t>& blocks) {
  const Result<Entry> entry = log_.entry(ref);
  if (!entry && entry.error().code() == Code::damaged) return {};
  if (!entry) return std::unexpected(entry.error());
  if (entry->head.sid != sid) return {};
  blocks.push_back(ref.pos - entry->block_offset / row_bytes);
  std::string bytes(log_.entry_bytes());
  erase_entry(bytes);
  return overwrite(ref, bytes);
}

Result<> Eraser::overwrite(const EntryRef& ref, std::string_view bytes) {
  log_.forget();
  std::size_t offset = ref.offset;
  for (std::uint64_t pos = ref.pos; !bytes.empty(); ++pos) {
    std::string row;
    {
      Query query(read_row_);
      if (!TRY(query->bind_u64(1, pos).step())) return fail(Code::damaged, "a log row is missing");
      row = query->bytes(0);
    }
    const std::string_view part = bytes.substr(0, row.size() - offset);
    row.replace(offset, part.size(), part);
    TRY_VOID(write_row_.bind_u64(1, pos).bind_blob(2, row).run());
    bytes.remove_prefix(part.size());
    offset = 0;
  }
  return {};
}

Result<> Eraser::drop_if_empty(std::uint64_t block_pos, std::uint64_t indexed) {
  log_.forget();
  const std::optional<ScannedBlock> block = TRY(log_.block(block_pos, block_pos + 1));
  if (!block || block->uncertain || block->next_pos > indexed) return {};
  const bool empty = std::ranges::all_of(
      block->entries, [](const ScannedEntry& entry) { return entry.head.removed; });
  if (!empty) return {};
  return delete_rows_.bind_u64(1, block->pos).bind_u64(2, block->next_pos).run();
}

}  // namespace perdure
