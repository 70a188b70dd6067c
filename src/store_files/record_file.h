// The records of a session on the disk: <id>.messages.jsonl, a line each, and beside it
// <id>.messages.index with 24 bytes a record: where its line ends, which group committed it, its
// checksum, and a checksum of the entry. The index can be made again from the lines and their hash
// chain; without it they could not be told from damaged ones before they are served.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "store_files/disk.h"
#include "store_files/stored_session.h"

namespace perdure {

// Files that are open, the least used closed first. From any thread.
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

// Where the records of a session are; taken under the lock, used without it.
struct RecordPlace {
  SessionId session;
  Seq filled = 0;
  std::uint64_t filled_bytes = 0;
  std::uint64_t position = 0;  // of the session, when it was looked at
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
// False ends the reading.
using OnRecord = std::function<bool(const RecordSeen&)>;

class RecordFiles {
 public:
  RecordFiles(JournalDisk& disk, std::size_t files_max) : disk_(disk), open_(disk, files_max) {}

  // Writes the tail behind what is there. The session's numbers follow; its tail is left, so that
  // readers without the new numbers find it. disk_full and errors leave the numbers as they were.
  struct Filled {
    Seq filled = 0;
    std::uint64_t filled_bytes = 0;
  };
  Result<Filled> fill(const StoredSession& session);
  Result<> sync(SessionId session);

  // Gives the records of a span that are in the file, in order, each checked. `damaged` behind the
  // last good one that was given.
  Result<> read(const RecordPlace& place, SeqSpan span, const OnRecord& on_record);

  // Makes the index anew from the lines and their chain, and says how many are whole and fit. What
  // the index that is there says of a line counts as far as it is whole itself. For a session whose
  // rows are gone `place` names no end.
  Result<Filled> rebuild_index(const RecordPlace& place);
  // The same if all lines are whole, where each needs an entry that is whole or a next line that
  // vouches for it; else nothing changes. Says whether they are.
  Result<bool> mend_index(const RecordPlace& place);
  // Whether index and lines are at least as long as they must be.
  Result<bool> has_sizes(const RecordPlace& place);

  // Writes both files anew with another record in that place.
  struct Replacement {
    Seq seq = 0;
    std::string_view record;
    // A life before may have ended in the middle of it: then the index is not of these lines.
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
