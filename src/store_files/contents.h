// Everything a store holds but the bytes of records and blobs, in memory: what reads are answered
// from and what a commit changes. Guarded by one lock, which nobody holds while a disk works.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store_files/batch_text.h"
#include "store_files/record_file.h"
#include "store_files/stored_session.h"

namespace perdure {

struct Contents {
  std::mutex mutex;
  std::map<SessionId, StoredSession> sessions;
  std::set<SessionId> open;
  std::map<std::string, SessionId, std::less<>> refs;
  std::map<Hash, std::size_t> blob_owners;  // how many sessions have it
  std::map<std::string, StoredAnswer, std::less<>> answers;
  std::vector<std::string> answers_unsaved;  // keys that are in the commit log alone
  std::size_t tail_bytes = 0;                // of all sessions
  std::set<SessionId> tailed;                // sessions with records that are not in their file
  std::set<SessionId> unsaved;               // sessions that their files do not hold yet

  // These are called under the lock. A change that was committed as that group; its session ends
  // there if it does not fit, which happens to a damaged log only.
  struct Committed {
    std::uint64_t group = 0;
    std::uint64_t segment = 0;
    std::uint64_t idle_step = 0;
  };
  void apply(LoggedChange change, const Committed& committed);
  void add_loaded(StoredSession session);
  // Blobs that nobody has any more are given; their files are the caller's business.
  std::vector<Hash> erase(SessionId session);
  // Takes blobs from everybody whose files do not have that change, or later ones, already.
  void drop_blobs(const std::vector<Hash>& blobs, const Committed& committed);
  void touch(StoredSession& session, const Committed& committed);
  void set_filled(StoredSession& session, const RecordFiles::Filled& filled);

  void set_saved(StoredSession& session);

 private:
  void take_answers(Append& batch);
  bool extends_damaged(StoredSession& session, Append& batch) const;
  void apply_rows(StoredSession& session, Append& batch, const Committed& committed);
};

RecordPlace place_of(const StoredSession& session);

}  // namespace perdure
