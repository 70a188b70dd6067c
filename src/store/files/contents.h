// Everything in a store except the bytes of records and blobs, in memory: reads are answered from
// it and commits change it. One lock guards it, which is never held during disk I/O.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/files/log/batch_text.h"
#include "store/files/log/record_file.h"
#include "store/files/stored_session.h"

namespace perdure {

struct Contents {
  std::mutex mutex;
  std::map<SessionId, StoredSession> sessions;
  std::set<SessionId> open;
  std::map<std::string, SessionId, std::less<>> refs;
  std::map<Hash, std::size_t> blob_owners;  // with the number of sessions that have it
  std::map<std::string, StoredAnswer, std::less<>> answers;
  std::vector<std::string> answers_unsaved;  // keys that are only in the commit log
  std::size_t tail_bytes = 0;                // of all sessions
  std::set<SessionId> tailed;                // sessions with records that are not in their file
  std::set<SessionId> unsaved;               // sessions whose changes are not all in their files

  // Call these under the lock. Applies a change that was committed as the given group. If it does
  // not fit, which happens only with a damaged log, the session counts as damaged from there.
  struct Committed {
    std::uint64_t group = 0;
    std::uint64_t segment = 0;
    std::uint64_t idle_step = 0;
  };
  void apply(LoggedChange change, const Committed& committed);
  void add_loaded(StoredSession session);
  // Returns the blobs without owners; the caller deletes their files.
  std::vector<Hash> erase(SessionId session);
  // Removes blobs from every session whose files do not already contain this change or a later one.
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
