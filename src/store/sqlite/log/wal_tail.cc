#include "store/sqlite/log/wal_tail.h"

#include <cstring>

#include "store/sqlite/index/block.h"

namespace perdure {
namespace {

constexpr sqlite3_int64 wal_header_bytes = 32;
constexpr sqlite3_int64 frame_header_bytes = 24;
// SQLite's wal-index: the header on its first page contains the number of committed frames.
constexpr int index_page_bytes = 32768;
constexpr std::size_t index_frames_at = 16;

Result<sqlite3_file*> file_of(Db& db, int which) {
  sqlite3_file* file = nullptr;
  const int result = sqlite3_file_control(db.handle(), "main", which, static_cast<void*>(&file));
  if (result != SQLITE_OK || file == nullptr || file->pMethods == nullptr) {
    return fail(Code::storage_unknown, "the journal's files cannot be reached");
  }
  return file;
}

Result<std::uint32_t> frames_in_index(sqlite3_file* database) {
  void volatile* page = nullptr;
  const int result = database->pMethods->xShmMap(database, 0, index_page_bytes, 0, &page);
  if (result != SQLITE_OK || page == nullptr) {
    return fail(Code::storage_unknown, "the index of the write-ahead log cannot be read");
  }
  std::uint32_t frames = 0;
  std::memcpy(&frames, const_cast<const char*>(static_cast<char volatile*>(page)) + index_frames_at,
              sizeof frames);
  return frames;
}

Error unknown(int result, const char* doing) {
  return Error(Code::storage_unknown, sqlite_error(result, doing).message());
}

}  // namespace

Result<std::uint32_t> committed_frames(Db& db) {
  return frames_in_index(TRY(file_of(db, SQLITE_FCNTL_FILE_POINTER)));
}

Result<> cut_wal_tail(Db& db) {
  sqlite3_file* database = TRY(file_of(db, SQLITE_FCNTL_FILE_POINTER));
  sqlite3_file* wal = TRY(file_of(db, SQLITE_FCNTL_JOURNAL_POINTER));
  const std::uint32_t frames = TRY(frames_in_index(database));
  const sqlite3_int64 frame_bytes = frame_header_bytes + page_bytes;
  const sqlite3_int64 end = frames == 0 ? 0 : wal_header_bytes + frames * frame_bytes;
  sqlite3_int64 size = 0;
  if (const int r = wal->pMethods->xFileSize(wal, &size); r != SQLITE_OK) {
    return std::unexpected(unknown(r, "size of the write-ahead log"));
  }
  if (size <= end) return {};
  if (const int r = wal->pMethods->xTruncate(wal, end); r != SQLITE_OK) {
    return std::unexpected(unknown(r, "cut the write-ahead log"));
  }
  if (const int r = wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL); r != SQLITE_OK) {
    return std::unexpected(unknown(r, "sync the write-ahead log"));
  }
  return {};
}

}  // namespace perdure
