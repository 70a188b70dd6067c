// What happens to a write-ahead log that an earlier life left behind, before SQLite sees it. Two
// things SQLite does not do: after an fsync error the page cache may hold a commit that the disk
// does not, so the last commit is written again with its own bytes and synced; and SQLite ends the
// log at the first frame whose checksum is wrong, which silently drops acknowledged commits when
// the wrong frame is a decayed one rather than a torn tail.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store_sqlite/vfs_file.h"

namespace perdure {

struct WalFound {
  std::uint64_t frames_good = 0;       // whole frames in front
  std::uint64_t frames_committed = 0;  // of them, up to the last commit
  // Of them, up to the commit before. That one was synced: nobody writes after a failed sync.
  std::uint64_t frames_settled = 0;
  std::uint64_t frames_behind = 0;  // frames of this log behind the first bad one
  // The largest page or size of the database that a whole frame names.
  std::uint32_t pages = 0;
  bool commits_behind = false;  // among them are commits that were once complete: decay
};

// Reads the log and tells what is in it. Changes nothing. A log without a header is empty.
Result<WalFound> inspect_wal(VfsFile& wal);

// Writes the last commit of the log again in place and syncs it. It may have been acknowledged, and
// a power cut in the middle of a write may leave anything there: so its bytes are synced to `redo`
// first, unless there is no room for that. An error means that the state of the disk is as unknown
// as before.
Result<> refresh_wal(VfsFile& wal, const WalFound& found, const FilePlace& redo);

// Ends a refresh_wal() or salvage_wal() that was cut off: puts back what `redo` holds, if that is
// whole and about this log, and deletes it. One without a log is of another and deleted.
Result<> finish_refresh(const FilePlace& wal, const FilePlace& redo);

struct SalvagePlaces {
  FilePlace copy_to;  // with a number behind it where there is one already
  FilePlace redo;
};

// Makes the frames behind a decayed one readable again: computes the checksums anew from there on,
// after the log was copied. A decayed page itself stays as it is; what of the journal lies in it is
// found by the journal's own checksums. A frame that does not tell any more which page it has is
// passed over. Says how many frames SQLite must take now: whoever opens the file has to compare
// them. After an error the log is as it was, or finish_refresh() makes it whole.
Result<std::uint64_t> salvage_wal(VfsFile& wal, const WalFound& found, const SalvagePlaces& places);

}  // namespace perdure
