// The commit log: groups of changes are written to files in commits/ before anything else. A group
// is one line about itself and the changes of all sessions that were queued together. It is
// committed when its bytes are synced; the session files are filled from it afterwards.
//
// Only the last group can be in doubt: each was synced before the next was begun. So a bad group
// followed by a good one is damage, and one at the end is a torn write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/files/disk.h"
#include "store/files/log/batch_text.h"

namespace perdure {

struct LoggedGroup {
  std::uint64_t number = 0;
  std::uint64_t segment = 0;
  std::vector<LoggedChange> changes;
};

struct LogScan {
  std::vector<std::uint64_t> segments;  // the existing ones, in order
  std::uint64_t last_group = 0;
  std::string last_bytes;          // of the last group, to be written again
  std::vector<std::string> notes;  // cuts and skips, one sentence each
  bool has_lost = false;           // groups of unknown sessions were skipped
};

enum class OnDecay { refuse, pass_over };

// Reads all segments and visits each group once, in order. A torn end is cut in memory and noted.
// `damaged` if an acknowledged group cannot be read and its sessions are unknown; pass_over notes
// it and continues.
Result<LogScan> scan_log(JournalDisk& disk, OnDecay on_decay,
                         const std::function<Result<>(LoggedGroup)>& visit);

class CommitLog {
 public:
  // Begins a new segment after the scanned ones and writes the scan's last group again, since it
  // may have been in doubt. Durable on return. Numbers continue after the scan's last group and
  // `numbered_to`, the highest that sessions know of groups removed since.
  static Result<CommitLog> begin(JournalDisk& disk, LogScan scan, std::uint64_t numbered_to);

  // Writes one group and syncs it. disk_full: nothing of it is on disk, durably.
  Result<std::uint64_t> append(std::string_view body);
  // The next group starts a new segment.
  Result<> rotate();
  // Removes every segment before the current one, oldest first.
  Result<> drop_old();

  std::uint64_t segment() const { return segments_.back(); }
  bool has_old() const { return segments_.size() > 1; }
  std::uint64_t bytes() const { return end_; }  // of the current segment
  std::uint64_t last_group() const { return last_group_; }

 private:
  explicit CommitLog(JournalDisk& disk) : disk_(&disk) {}

  JournalDisk* disk_;
  std::vector<std::uint64_t> segments_;
  std::unique_ptr<JournalFile> file_;
  std::uint64_t end_ = 0;
  std::uint64_t last_group_ = 0;
  std::string buffer_;
};

}  // namespace perdure
