// Writes one group of appends inside a transaction: checks each against the sessions as changed by
// the group, packs the records into a commit block, and writes the rows that belong to them. An
// append that fails a check is refused alone; a database error affects the whole group.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/queue/append_queue.h"
#include "store/sqlite/index/block.h"
#include "store/sqlite/index/session_index.h"
#include "store/sqlite/sqlite_db.h"
#include "store/store.h"

namespace perdure {

class GroupWriter {
 public:
  static Result<GroupWriter> create(Db& db, SessionIndex& index, std::uint64_t epoch);

  // Inside an open transaction. Afterwards each append is refused or part of the group; the caller
  // commits and then calls published(), or rolls back and calls discarded().
  Result<> write(std::span<PendingAppend* const> group, std::uint64_t next_pos);
  // Makes the group visible. Returns the position after its block.
  std::uint64_t published();
  void discarded();
  std::size_t block_bytes() const { return block_bytes_; }

 private:
  GroupWriter(Db& db, SessionIndex& index, std::uint64_t epoch)
      : db_(&db), index_(&index), epoch_(epoch) {}

  Result<> write_one(PendingAppend& pending);
  // The append's change, created if needed; null if the append is refused.
  Result<SessionIndex::Change*> admit(PendingAppend& pending);
  Result<SessionIndex::Change*> change_of(SessionId session, PendingAppend& pending);
  Result<std::optional<Error>> check_answers(const Append& batch);
  // The first missing blob that the batch refers to.
  Result<std::optional<Hash>> find_lost_blob(const Append& batch);
  Result<> create_session(IndexedSession& state);
  void write_records(SessionIndex::Change& change, const Append& batch);
  Result<> write_rows(SessionIndex::Change& change, const Append& batch);
  Result<> write_outbox(std::uint64_t sid, const Append& batch);
  Result<> write_answers(const Append& batch);
  Result<> write_blobs(std::uint64_t sid, const Append& batch);
  Result<> write_listing(const IndexedSession& state, const Listing& listing);
  Result<> write_block();

  Db* db_;
  SessionIndex* index_;
  std::uint64_t epoch_;
  std::uint64_t next_pos_ = 0;  // after the block
  std::size_t block_bytes_ = 0;
  BlockBuilder block_;
  SessionIndex::Group group_;

  Statement insert_row_, load_session_, insert_session_, set_listing_, insert_outbox_,
      delete_outbox_, has_answer_, insert_answer_, insert_ref_, insert_snapshot_, insert_blob_,
      has_blob_, insert_owner_;
};

// A stored session's state, by id; absent if not stored. The statement selects load_session_sql.
// The table heads has no checksums: if a head differs from the end of the last extent, the session
// counts as damaged.
inline constexpr std::string_view load_session_sql =
    "SELECT s.sid, h.head, h.cursor, h.good, e.first_seq, e.packed FROM sessions s "
    "LEFT JOIN heads h ON h.sid = s.sid LEFT JOIN extents e ON e.sid = s.sid "
    "WHERE s.id = ? ORDER BY e.first_seq DESC LIMIT 1";
Result<std::optional<IndexedSession>> load_session(Statement& load, SessionId session);

// The context that the checksums of rows outside the log cover in addition to the payload.
std::string outbox_key(std::uint64_t sid, std::uint64_t number);
std::string snapshot_key(std::uint64_t sid, Seq seq);
std::string redaction_key(std::uint64_t sid, Seq seq);
std::string listing_key(SessionId session, const Listing& listing);
std::string answer_payload(const StoredAnswer& answer);

}  // namespace perdure
