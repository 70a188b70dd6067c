// The records of a session on disk: <id>.messages.jsonl, one line each, and <id>.messages.index
// with 24 bytes per record: the end of its line, the group that committed it, its checksum, and a
// checksum of the entry. The index can be rebuilt from the lines and their hash chain; without it,
// damaged lines could not be detected before they are served.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "store/files/disk.h"
#include "store/files/stored_session.h"

namespace perdure {

// Open files; the least recently used is closed first. Thread-safe.
class OpenFiles {
 public:
  OpenFiles(JournalDisk& disk, std::size_t files_max) : disk_(disk), files_max_(files_max) {}
  Result<std::shared_ptr<JournalFile>> get(const std::string& name, JournalOpen mode);
  void forget(const std::string& name);

 private:
  struct Open {
    std::shared_ptr<JournalFile> file;
    std::uint64_t used = 0;
  };
  JournalDisk& disk_;
  std::size_t files_max_;
  std::mutex mutex_;
  std::map<std::string, Open> open_;
  std::uint64_t uses_ = 0;
};

// A session's records on disk; copied under the lock, used without it.
struct RecordPlace {
  SessionId session;
  Seq filled = 0;
  std::uint64_t filled_bytes = 0;
  std::uint64_t position = 0;  // the session's, when it was looked at
};

struct SeqSpan {
  Seq after = 0;
  Seq last = 0;
};

struct RecordSeen {
  Seq seq = 0;
  std::uint64_t position = 0;
  std::string_view record;
};
// Returns false to stop reading.
using OnRecord = std::function<bool(const RecordSeen&)>;

class RecordFiles {
 public:
  RecordFiles(JournalDisk& disk, std::size_t files_max) : disk_(disk), open_(disk, files_max) {}

  // Appends the tail to the file. The caller then updates the session's numbers and keeps the tail
  // for readers with the old numbers. On errors, including disk_full, the numbers stay unchanged.
  struct Filled {
    Seq filled = 0;
    std::uint64_t filled_bytes = 0;
  };
  Result<Filled> fill(const StoredSession& session);
  Result<> sync(SessionId session);

  // Gives those records of the span that are in the file, in order, each checked. `damaged` after
  // the last good one.
  Result<> read(const RecordPlace& place, SeqSpan span, const OnRecord& on_record);

  // Rebuilds the index from the lines and their chain; returns how many are intact and fit. Intact
  // entries of the existing index count. If the session's rows are lost, `place` names no end.
  Result<Filled> rebuild_index(const RecordPlace& place);
  // The same, but only if all lines are intact, which requires for each an intact entry or a next
  // line that confirms it; otherwise changes nothing. Returns whether they are.
  Result<bool> mend_index(const RecordPlace& place);
  // Whether index and lines have at least the required length.
  Result<bool> has_sizes(const RecordPlace& place);

  // Rewrites both files with another record in one place.
  struct Replacement {
    Seq seq = 0;
    std::string_view record;
    // An earlier life may have stopped halfway: then the index does not match these lines.
    bool is_again = false;
  };
  Result<Filled> replace(RecordPlace place, const Replacement& replacement);

  Result<> remove(SessionId session);
  OpenFiles& open_files() { return open_; }

 private:
  struct Scan;
  class Rewriting;
  Result<Filled> rewrite(const RecordPlace& place, const Replacement& replacement);
  Result<Scan> scan_lines(const RecordPlace& place, std::string_view known);
  Result<std::string> known_entries(SessionId session);
  Result<> put_index(SessionId session, std::string_view entries);

  JournalDisk& disk_;
  OpenFiles open_;
};

}  // namespace perdure
