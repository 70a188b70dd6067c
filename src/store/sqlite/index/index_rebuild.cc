// Rebuilds the tables heads and extents from the log. It keeps what the old tables knew of
// acknowledged records that the log has lost: their numbers must not be reused (J1).
#include "store/sqlite/index/extents.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"

namespace perdure {
namespace {

constexpr std::size_t slice_bytes = 64UL << 20;

// A session's end according to the old index.
struct OldEnd {
  std::uint64_t sid = 0;
  Seq end = 0;              // of the last extent with a correct checksum
  std::optional<Seq> good;  // it was damaged
};

// A row that cannot be read counts as none.
Result<bool> step_over_damage(Query& query) {
  const Result<bool> row = query->step();
  if (!row && row.error().code() == Code::damaged) return false;
  return row;
}

Result<std::vector<OldEnd>> read_old_ends(Db& db) {
  Statement sessions = TRY(db.prepare("SELECT sid FROM sessions"));
  Statement extents = TRY(
      db.prepare("SELECT first_seq, packed FROM extents WHERE sid = ? ORDER BY first_seq DESC"));
  Statement heads = TRY(db.prepare("SELECT good FROM heads WHERE sid = ? AND good IS NOT NULL"));
  std::vector<OldEnd> out;
  while (TRY(sessions.step())) {
    OldEnd old{.sid = sessions.u64(0)};
    Query extent(extents);
    extent->bind_u64(1, old.sid);
    while (old.end == 0 && TRY(step_over_damage(extent))) {
      const ExtentKey key{.sid = old.sid, .first_seq = extent->u64(0)};
      const auto refs = unpack_extent(key, extent->bytes(1));
      if (refs) old.end = key.first_seq - 1 + records_in(*refs);
    }
    Query head(heads);
    head->bind_u64(1, old.sid);
    if (TRY(step_over_damage(head))) old.good = head->u64(0);
    if (old.end > 0 || old.good) out.push_back(old);
  }
  return out;
}

// Only extents locate the records of removed sessions that are still to be erased.
struct DoomedExtent {
  ExtentKey key;
  std::string packed;
};

Result<std::vector<DoomedExtent>> read_doomed(Db& db) {
  Statement doomed = TRY(db.prepare("SELECT sid FROM doomed"));
  Statement rows =
      TRY(db.prepare("SELECT first_seq, packed FROM extents WHERE sid = ? ORDER BY first_seq"));
  std::vector<DoomedExtent> out;
  while (TRY(doomed.step())) {
    Query row(rows);
    row->bind_u64(1, doomed.u64(0));
    while (TRY(step_over_damage(row))) {
      const ExtentKey key{.sid = doomed.u64(0), .first_seq = row->u64(0)};
      out.push_back({.key = key, .packed = std::string(row->bytes(1))});
    }
  }
  return out;
}

Result<> write_doomed(Db& db, const std::vector<DoomedExtent>& extents) {
  Statement put = TRY(db.prepare("INSERT INTO extents(sid, first_seq, packed) VALUES(?, ?, ?)"));
  for (const auto& [key, packed] : extents) {
    TRY_VOID(put.bind_u64(1, key.sid).bind_u64(2, key.first_seq).bind_blob(3, packed).run());
  }
  return {};
}

Result<bool> is_broken(Db& db, const std::string& table) {
  Statement check = TRY(db.prepare("PRAGMA integrity_check(" + table + ")"));
  const Result<bool> row = check.step();
  if (!row && row.error().code() == Code::damaged) return true;
  return TRY(row) && check.bytes(0) != "ok";
}

// A table with an unreadable page cannot be emptied or dropped either: rename it and leave it in
// the file.
Result<> set_aside(Db& db, const std::string& table) {
  const std::string prefix = table + "_broken_";
  const std::int64_t before = TRY(
      db.query_int("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND substr(name, 1, " +
                   std::to_string(prefix.size()) + ") = '" + prefix + "'"));
  return db.exec("ALTER TABLE " + table + " RENAME TO " + prefix + std::to_string(before + 1));
}

// Everything read from the old tables: SQLite writes nothing more in a transaction that hit a
// broken page.
struct OldIndex {
  std::vector<OldEnd> ends;
  bool has_broken_heads = false;
  bool has_broken_extents = false;
  std::vector<DoomedExtent> doomed;  // including broken extents
};

Result<OldIndex> read_old(Db& db) {
  OldIndex old{.ends = TRY(read_old_ends(db)),
               .has_broken_heads = TRY(is_broken(db, "heads")),
               .has_broken_extents = TRY(is_broken(db, "extents"))};
  if (old.has_broken_extents) old.doomed = TRY(read_doomed(db));
  return old;
}

Result<> clear_tables(Db& db, const OldIndex& old) {
  if (old.has_broken_heads) {
    TRY_VOID(set_aside(db, "heads"));
    TRY_VOID(db.exec(heads_table_sql));
  } else {
    TRY_VOID(db.exec("DELETE FROM heads"));
  }
  if (!old.has_broken_extents) {
    return db.exec("DELETE FROM extents WHERE sid NOT IN (SELECT sid FROM doomed)");
  }
  TRY_VOID(set_aside(db, "extents"));
  TRY_VOID(db.exec(extents_table_sql));
  return write_doomed(db, old.doomed);
}

// A session that lost records stays damaged from where its records end now.
Result<> keep_quarantines(Db& db, const std::vector<OldEnd>& ends) {
  Statement heads = TRY(db.prepare("SELECT head FROM heads WHERE sid = ?"));
  Statement put =
      TRY(db.prepare("INSERT INTO heads(sid, head, good) VALUES(?, 0, 0) "
                     "ON CONFLICT(sid) DO UPDATE SET good = coalesce(good, head)"));
  for (const OldEnd& old : ends) {
    Seq head = 0;
    {
      Query query(heads);
      if (TRY(query->bind_u64(1, old.sid).step())) head = query->u64(0);
    }
    const bool is_shorter = old.end > head || (old.good && *old.good >= head);
    if (is_shorter) TRY_VOID(put.bind_u64(1, old.sid).run());
  }
  return {};
}

}  // namespace

// Scans into a separate index, in one transaction, so that readers see the old one until the end.
Result<> Writer::rebuild_index() {
  const std::scoped_lock lock(write_mutex_);
  std::vector<std::string> notes;
  const OldIndex old = TRY(read_old(db_));
  TRY_VOID(transact([&]() -> Result<> {
    TRY_VOID(clear_tables(db_, old));
    SessionIndex fresh(0);
    IndexFlush flush = TRY(IndexFlush::create(db_, fresh));
    for (std::uint64_t pos = 1; pos < next_pos_;) {
      const TailScan scan = TRY(scan_tail(db_, fresh, {.from = pos, .bytes_max = slice_bytes}));
      pos = scan.next_pos;
      notes.insert(notes.end(), scan.notes.begin(), scan.notes.end());
      TRY(flush.write({.before = pos, .next_pos = pos, .sessions_max = SIZE_MAX}));
      flush.committed();
      fresh.clear();
    }
    return keep_quarantines(db_, old.ends);
  }));
  index_.clear();
  notes_ = std::move(notes);
  unindexed_bytes_ = 0;
  flush_before_ = 0;
  return {};
}

}  // namespace perdure
