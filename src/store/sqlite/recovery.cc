#include "store/sqlite/recovery.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "store/sqlite/group_writer.h"
#include "store/sqlite/index/codec.h"
#include "store/sqlite/log/log_reader.h"
#include "store/sqlite/log/vfs_file.h"
#include "store/sqlite/log/wal_recovery.h"
#include "store/sqlite/log/wal_tail.h"
#include "store/sqlite/schema.h"

namespace perdure {
namespace {

Result<std::uint64_t> size_of(const FilePlace& place) {
  if (!TRY(file_exists(place))) return 0;
  VfsFile file = TRY(VfsFile::open(place, VfsFile::Mode::read_only));
  return TRY(file.size());
}

// If other files of the store exist, a missing or empty database was lost, not never created.
Result<> check_files(const SqliteOptions& options, sqlite3_vfs* vfs) {
  const FilePlace database{vfs, options.path, VfsFileKind::database};
  const std::uint64_t bytes = TRY(size_of(database));
  if (bytes == 0) {
    const bool wal = TRY(size_of({vfs, options.path + "-wal", VfsFileKind::other})) > 0;
    const bool reserve = TRY(file_exists({vfs, options.path + ".reserve", VfsFileKind::other}));
    if (wal || reserve) {
      return fail(Code::damaged, options.path + " is missing or empty, but " +
                                     (wal ? "its -wal" : "its .reserve") +
                                     " is there: refusing to start an empty store over it");
    }
    if (!options.create) {
      return fail(Code::unavailable, options.path +
                                         " is missing or empty, but other data is there: refusing "
                                         "to start an empty store");
    }
    return {};
  }
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::array<char, 16> head{};
  VfsFile file = TRY(VfsFile::open(database, VfsFile::Mode::read_only));
  if (bytes >= head.size()) TRY_VOID(file.read(0, head));
  if (std::string_view(head.data(), head.size()) == magic) return {};
  // A power cut during a write of page 1 may leave any content. SQLite's log next to the file then
  // holds the page, or shows that the file was empty; the result is identified later.
  const bool journal = TRY(size_of({vfs, options.path + "-journal", VfsFileKind::other})) > 0;
  if (journal || TRY(size_of({vfs, options.path + "-wal", VfsFileKind::wal})) > 0) return {};
  const bool zeros = std::ranges::all_of(head, [](char c) { return c == '\0'; });
  return fail(zeros ? Code::damaged : Code::invalid_argument,
              options.path +
                  (zeros ? " starts with zeros where a database should be: it is damaged"
                         : " is not a database") +
                  "; it is left as it is");
}

// Returns how many frames of a salvaged log SQLite must accept; 0 for any.
Result<std::uint64_t> prepare_wal(const SqliteOptions& options, sqlite3_vfs* vfs) {
  const FilePlace place{vfs, options.path + "-wal", VfsFileKind::wal};
  const FilePlace redo{vfs, options.path + "-wal.redo", VfsFileKind::other};
  TRY_VOID(finish_refresh(place, redo));
  if (TRY(size_of(place)) == 0) return 0;
  VfsFile wal = TRY(VfsFile::open(place, VfsFile::Mode::read_write));
  const WalFound found = TRY(inspect_wal(wal));
  if (found.commits_behind && !options.salvage) {
    return fail(Code::damaged,
                place.path + " is damaged at frame " + std::to_string(found.frames_good + 1) +
                    ", and later commits would be lost (" + std::to_string(found.frames_behind) +
                    " frames); `perdure store salvage` keeps "
                    "a copy and recovers them");
  }
  if (found.commits_behind) {
    const FilePlace copy_to{vfs, options.path + "-wal.damaged", VfsFileKind::other};
    return salvage_wal(wal, found, {.copy_to = copy_to, .redo = redo});
  }
  TRY_VOID(refresh_wal(wal, found, redo));
  return 0;
}

// The next commit would overwrite frames that SQLite did not accept, so check this first.
Result<> check_frames(Db& db, std::uint64_t expected) {
  if (expected == 0) return {};
  const std::uint64_t taken = TRY(committed_frames(db));
  if (taken >= expected) return {};
  return fail(Code::damaged, "of the salvaged write-ahead log " + std::to_string(taken) +
                                 " frames can be read, and there should be " +
                                 std::to_string(expected) + "; nothing was written after them");
}

std::string make_log_id(const SqliteOptions& options) {
  if (!options.new_log_id.empty()) return options.new_log_id;
  std::array<unsigned char, 32> random{};
  sqlite3_randomness(16, random.data());
  Hash hash;
  hash.bytes = random;
  return "log_" + hash.hex().substr(0, 32);
}

Result<> take_over(OpenedFile& file, const SqliteOptions& options) {
  TRY_VOID(file.db.exec("BEGIN IMMEDIATE"));
  if (TRY(meta_int(file.db, meta::is_backup)) != 0) {
    TRY_VOID(set_meta(file.db, meta::log_id, make_log_id(options)));
    TRY_VOID(set_meta(file.db, meta::is_backup, 0));
  }
  file.log_id = TRY(meta_text(file.db, meta::log_id));
  const std::int64_t epoch = std::max(TRY(meta_int(file.db, meta::epoch)) + 1,
                                      static_cast<std::int64_t>(options.epoch_min));
  TRY_VOID(set_meta(file.db, meta::epoch, epoch));
  TRY_VOID(file.db.exec("COMMIT"));
  file.epoch = static_cast<std::uint64_t>(epoch);
  return {};
}

// The sessions found in a scan, by number.
class Sessions {
 public:
  Sessions(Statement load, SessionIndex& index) : load_(std::move(load)), index_(index) {}

  static Result<Sessions> create(Db& db, SessionIndex& index) {
    return Sessions(TRY(db.prepare("SELECT s.id, h.head, h.cursor, h.good FROM sessions s "
                                   "LEFT JOIN heads h ON h.sid = s.sid WHERE s.sid = ?")),
                    index);
  }

  // Null for a session that was removed.
  Result<IndexedSession*> get(std::uint64_t sid, std::uint64_t block_pos) {
    const auto [found, fresh] = states_.try_emplace(sid, nullptr);
    if (!fresh) return found->second;
    Query query(load_);
    if (!TRY(query->bind_u64(1, sid).step())) return nullptr;
    const std::optional<Ulid> id = ulid_of(query->bytes(0));
    if (!id) return fail(Code::damaged, "the id of session " + std::to_string(sid) + " is damaged");
    IndexedSession state{.id = SessionId(*id), .sid = sid, .head = query->u64(1)};
    state.flushed = state.head;
    std::string_view cursor = query->bytes(2);
    FrameCursor taken;
    if (take_cursor(cursor, taken)) state.cursor = taken;
    if (!query->is_null(3)) state.good = query->u64(3);
    state.dirty = true;
    state.dirty_from = block_pos;
    found->second = index_.insert(std::move(state));
    return found->second;
  }

 private:
  Statement load_;
  SessionIndex& index_;
  std::unordered_map<std::uint64_t, IndexedSession*> states_;
};

void add_entry(SessionIndex& index, IndexedSession& state, const ScannedEntry& entry) {
  const EntryHead& head = entry.head;
  const Seq last = head.first_seq + head.count - 1;
  // The tables have this entry or a later one. A cursor's entry has no record number.
  if (head.count == 0 ? last < state.flushed : last <= state.flushed) return;
  if (head.cursor) state.cursor = head.cursor;
  // A gap means that a whole entry was lost; the records after it are not served.
  const bool gap = head.first_seq != state.head + 1;
  if (gap || entry.damaged) {
    index.mark_damaged(state.id, std::min(state.head, head.first_seq - 1));
  }
  if (gap || head.count == 0) return;
  state.tail.push_back(entry.ref);
  state.head = last;
}

}  // namespace

Result<OpenedFile> open_file(const SqliteOptions& options) {
  sqlite3_vfs* vfs = TRY(find_vfs(options.vfs));
  TRY_VOID(check_files(options, vfs));
  const std::uint64_t frames = TRY(prepare_wal(options, vfs));
  OpenedFile file;
  file.db = TRY(Db::open({.path = options.path,
                          .vfs = options.vfs,
                          .flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE}));
  const FileState state = TRY(identify(file.db));
  TRY_VOID(check_frames(file.db, frames));
  TRY_VOID(configure_writer(file.db, options.checkpoint_bytes));
  if (state == FileState::fresh) {
    TRY_VOID(create_schema(file.db, make_log_id(options)));
    // From here on the file alone identifies itself.
    const int result = sqlite3_wal_checkpoint_v2(file.db.handle(), "main",
                                                 SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "first checkpoint"));
  }
  TRY_VOID(take_over(file, options));
  return file;
}

Result<std::uint64_t> end_of_log(Db& db) {
  const std::int64_t rows = TRY(db.query_int("SELECT max(pos) FROM log")) + 1;
  return static_cast<std::uint64_t>(
      std::max({rows, TRY(meta_int(db, meta::indexed)), TRY(meta_int(db, meta::searched))}));
}

Result<TailScan> scan_tail(Db& db, SessionIndex& index, const ScanRange& range) {
  const std::uint64_t end = TRY(end_of_log(db));
  LogReader log = TRY(LogReader::create(db));
  Sessions sessions = TRY(Sessions::create(db, index));
  TailScan scan{.next_pos = range.from};
  while (scan.bytes < range.bytes_max) {
    const std::optional<ScannedBlock> block = TRY(log.block(scan.next_pos, end));
    if (!block) {
      scan.next_pos = end;
      break;
    }
    for (const ScannedEntry& entry : block->entries) {
      if (entry.head.removed) continue;
      IndexedSession* state = TRY(sessions.get(entry.head.sid, block->pos));
      if (state != nullptr) add_entry(index, *state, entry);
    }
    if (block->uncertain) {
      scan.notes.push_back("the block at log row " + std::to_string(block->pos) +
                           " is damaged; records may be missing there");
    }
    scan.next_pos = block->next_pos;
    scan.bytes += block->bytes.size();
  }
  return scan;
}

}  // namespace perdure
