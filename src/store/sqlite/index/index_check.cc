// Checks the stored index and counts the sessions whose index must be rebuilt. It does not read
// records: they have their own checksums.
#include "store/sqlite/store_parts.h"

namespace perdure {

Result<std::uint64_t> SqliteStore::damaged_indexes() {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  Statement rows = TRY(
      reader->db.prepare("SELECT s.sid, coalesce(h.head, 0), e.first_seq, e.packed FROM sessions s "
                         "LEFT JOIN heads h ON h.sid = s.sid LEFT JOIN extents e ON e.sid = s.sid "
                         "WHERE h.head > 0 OR e.sid IS NOT NULL ORDER BY s.sid, e.first_seq"));
  struct Looked {
    std::uint64_t sid = 0;
    Seq head = 0;
    Seq next = 1;
    bool is_whole = true;
  };
  Looked now;
  std::uint64_t damaged = 0;
  const auto count = [&] { damaged += now.is_whole && now.next == now.head + 1 ? 0U : 1U; };
  Query query(rows);
  while (true) {
    const Result<bool> row = query->step();
    // A page of the table itself is damaged: its sessions are unknown.
    if (!row && row.error().code() == Code::damaged) return damaged + 1;
    if (!TRY(row)) break;
    const std::uint64_t sid = query->u64(0);
    if (sid != now.sid) {
      count();
      now = {.sid = sid, .head = query->u64(1)};
    }
    const ExtentKey key{.sid = sid, .first_seq = query->u64(2)};
    const auto refs = unpack_extent(key, query->bytes(3));
    now.is_whole = now.is_whole && refs && key.first_seq == now.next;
    if (refs) now.next += records_in(*refs);
  }
  count();
  return damaged;
}

}  // namespace perdure
