// Repairs a write-ahead log left by an earlier life, before SQLite sees it. SQLite lacks two
// things. After an fsync error the page cache may hold a commit that the disk does not: so the last
// commit is written again unchanged and synced. And SQLite ends the log at the first frame with a
// wrong checksum, which silently drops acknowledged commits if that frame decayed instead of being
// a torn tail.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/sqlite/log/vfs_file.h"

namespace perdure {

struct WalFound {
  std::uint64_t frames_good = 0;       // intact frames at the beginning
  std::uint64_t frames_committed = 0;  // of them, up to the last commit
  // Of them, up to the previous commit. It was synced: nothing writes after a failed sync.
  std::uint64_t frames_settled = 0;
  std::uint64_t frames_behind = 0;  // frames of this log after the first bad one
  // The largest page number or database size in an intact frame.
  std::uint32_t pages = 0;
  bool commits_behind = false;  // they include commits that were once complete: decay
};

// Reads the log and reports its contents. Changes nothing. A log without a header is empty.
Result<WalFound> inspect_wal(VfsFile& wal);

// Writes the log's last commit again in place and syncs it. It may have been acknowledged, and a
// power cut during the write may leave any content there: so its bytes are first synced to `redo`,
// unless the disk is full. An error means that the disk's state is as unknown as before.
Result<> refresh_wal(VfsFile& wal, const WalFound& found, const FilePlace& redo);

// Completes an interrupted refresh_wal() or salvage_wal(): writes back the contents of `redo` if it
// is intact and about this log, and deletes it. A redo without a log is stale and deleted.
Result<> finish_refresh(const FilePlace& wal, const FilePlace& redo);

struct SalvagePlaces {
  FilePlace copy_to;  // with a number appended if it exists
  FilePlace redo;
};

// Makes the frames after a decayed one readable again: copies the log, then recomputes the
// checksums from there on. A decayed page stays as it is; the journal's own checksums find damaged
// journal data in it. Skips a frame whose page is unknown. Returns how many frames SQLite must now
// accept: the caller must check this after opening. After an error the log is unchanged or
// finish_refresh() completes it.
Result<std::uint64_t> salvage_wal(VfsFile& wal, const WalFound& found, const SalvagePlaces& places);

}  // namespace perdure
