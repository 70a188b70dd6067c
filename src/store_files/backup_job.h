// A copy of a files store into another folder, made in slices while the store goes on. Sessions are
// copied one by one, each as it was when its turn came; those that changed meanwhile are copied
// again in the last slice, with nobody writing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"
#include "store_files/contents.h"
#include "store_files/disk.h"
#include "store_files/identity.h"

namespace perdure {

class FilesBackup {
 public:
  // conflict: something is at that place.
  static Result<FilesBackup> begin(std::unique_ptr<JournalDisk> target, Store::Done done);

  // Sessions of the source that are not in the copy at all, a few at most, and those that changed
  // since they were copied.
  struct Missing {
    std::vector<SessionId> fresh;
    std::vector<SessionId> changed;
  };
  Missing missing(Contents& contents) const;
  // Begins the copy of a session that was just saved.
  Result<> begin_session(JournalDisk& source, const StoredSession& session);
  // Copies some bytes on; false when no session is under way.
  Result<bool> copy_some(std::size_t bytes_max);
  bool is_copying() const { return copying_.has_value(); }
  // Drops what is under way, and says what the copies are of; then everything is in place.
  Result<> finish(JournalDisk& source, Contents& contents, const StoreIdentity& identity);
  // Tells the caller. After an error nothing opens the copy: it has no identity.
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
  std::map<SessionId, std::uint64_t> copied_;  // by the position they were copied at
};

}  // namespace perdure
