// Copies a files store into another folder in slices while the store keeps running. Each session is
// copied in its state at that moment; the last slice copies changed sessions again, with no
// concurrent writer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/files/contents.h"
#include "store/files/disk.h"
#include "store/files/identity.h"
#include "store/store.h"

namespace perdure {

class FilesBackup {
 public:
  // conflict: the place is not empty.
  static Result<FilesBackup> begin(std::unique_ptr<JournalDisk> target, Store::Done done);

  // Sessions of the source that are not in the copy yet (a few at most), and those that changed
  // since they were copied.
  struct Missing {
    std::vector<SessionId> fresh;
    std::vector<SessionId> changed;
  };
  Missing missing(Contents& contents) const;
  // Begins to copy a session that was just saved.
  Result<> begin_session(JournalDisk& source, const StoredSession& session);
  // Copies some more bytes; false if no session is being copied.
  Result<bool> copy_some(std::size_t bytes_max);
  bool is_copying() const { return copying_.has_value(); }
  // Drops a session in progress and writes what the copies belong to; then everything is in place.
  Result<> finish(JournalDisk& source, Contents& contents, const StoreIdentity& identity);
  // Reports the outcome. After an error the copy cannot be opened: it has no identity.
  void tell(Result<> outcome);

 private:
  struct Stream {
    std::shared_ptr<JournalFile> from;
    std::unique_ptr<JournalFile> to;
    std::uint64_t at = 0;
    std::uint64_t end = 0;
  };
  struct Copying {
    SessionId session;
    std::uint64_t position = 0;
    std::string rows;
    std::vector<Stream> streams;
  };
  FilesBackup(std::unique_ptr<JournalDisk> target, Store::Done done)
      : target_(std::move(target)), done_(std::move(done)) {}
  Result<> end_session();
  Result<> copy_blob(JournalDisk& source, const Hash& hash);

  std::unique_ptr<JournalDisk> target_;
  Store::Done done_;
  std::optional<Copying> copying_;
  std::map<SessionId, std::uint64_t> copied_;  // with the position at which each was copied
};

}  // namespace perdure
