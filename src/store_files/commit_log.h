// The commit log: files of commits/ that groups of changes are written to before anything else. A
// group is one line about itself and the changes of all sessions that were queued together; it is
// committed when its bytes are synced, and the session files are filled from it afterwards.
//
// Only the last group can be in doubt: the one before was synced before it was begun. So a bad
// group with a good one behind it is damage, and one with nothing behind it is a torn end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store_files/batch_text.h"
#include "store_files/disk.h"

namespace perdure {

struct LoggedGroup {
  std::uint64_t number = 0;
  std::uint64_t segment = 0;
  std::vector<LoggedChange> changes;
};

struct LogScan {
  std::vector<std::uint64_t> segments;  // that are there, in order
  std::uint64_t last_group = 0;
  std::string last_bytes;          // of the last group, to be written again
  std::vector<std::string> notes;  // what was cut or passed over, a sentence each
  bool has_lost = false;           // groups were passed over, and nobody can say whose
};

enum class OnDecay { refuse, pass_over };

// Reads all segments and gives each group once, in order. A torn end is cut in memory and noted.
// `damaged` where a group that was acknowledged cannot be read and nobody can say whose it was;
// pass_over notes it and goes on.
Result<LogScan> scan_log(JournalDisk& disk, OnDecay on_decay,
                         const std::function<Result<>(LoggedGroup)>& visit);

class CommitLog {
 public:
  // Begins a new segment behind those of the scan, with the scan's last group in it again: it may
  // have been in doubt. Durable on return. Groups are numbered behind the scan's last one and
  // `numbered_to`, which sessions remember of groups that are gone.
  static Result<CommitLog> begin(JournalDisk& disk, LogScan scan, std::uint64_t numbered_to);

  // Writes one group and syncs it. disk_full: nothing of it is there, durably.
  Result<std::uint64_t> append(std::string_view body);
  // The next group goes to a new segment.
  Result<> rotate();
  // Removes every segment before the present one, oldest first.
  Result<> drop_old();

  std::uint64_t segment() const { return segments_.back(); }
  bool has_old() const { return segments_.size() > 1; }
  std::uint64_t bytes() const { return end_; }  // of the present segment
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
