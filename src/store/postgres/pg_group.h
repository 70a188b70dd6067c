// A group of appends as the column parameters of one statement. Several changes of a session to one
// row are merged first: the statement touches each row once and checks that this life, its leases
// and the heads are as expected. It is a transaction of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/postgres/link/pg_link.h"
#include "store/store.h"

namespace perdure {

// Identifies a commit of a connection of a life. The server accepts it only from the newest
// connection of a life that was not shut out, and stores its number.
struct PgTurn {
  std::string node;
  std::uint64_t epoch = 0;
  std::uint64_t link = 0;
  std::uint64_t group = 0;
};

class PgGroup {
 public:
  // A session's stored state, and the lease that its append needs.
  struct Stored {
    std::optional<Seq> head;             // absent: not stored yet
    std::optional<std::uint64_t> lease;  // its epoch; absent: only the head is checked
  };
  // Adds an append that was checked to fit; it must outlive the group.
  void add(const Append& append, const Stored& stored);
  bool is_empty() const { return sessions_.empty(); }
  std::size_t append_count() const { return appends_; }

  std::vector<SessionId> sessions() const;
  // The heads after the group.
  std::vector<std::pair<SessionId, Seq>> heads() const;
  std::vector<std::string> answer_keys() const;
  bool gives_blob(const Hash& hash) const { return blobs_.contains(hash); }

  static PgStatement statement();
  // A non-empty hint notifies the other nodes of the commit.
  PgParams params(const PgTurn& turn, std::string_view hint) const;

 private:
  struct Change {
    std::optional<Seq> head_before;  // absent: a new session
    std::optional<std::uint64_t> lease;
    Seq head = 0;
    std::optional<FrameCursor> cursor;
    const Listing* listing = nullptr;
    std::map<std::uint64_t, std::string_view> outbox_add;
    std::set<std::uint64_t> outbox_done;
    std::set<Hash> blobs;  // added or referred to
    std::optional<std::pair<Seq, std::string_view>> snapshot;
    std::vector<std::string_view> records;
  };

  void put_sessions(PgParams& params) const;
  void put_records(PgParams& params) const;
  void put_outbox(PgParams& params) const;
  void put_answers(PgParams& params) const;
  void put_refs(PgParams& params) const;
  void put_snapshots(PgParams& params) const;
  void put_blobs(PgParams& params) const;
  void put_blob_refs(PgParams& params) const;
  void put_leases(PgParams& params) const;

  std::map<SessionId, Change> sessions_;
  std::map<std::string_view, SessionId> refs_;
  std::map<Hash, std::string_view> blobs_;
  std::set<Hash> blob_refs_;  // that the group does not add itself
  std::vector<const StoredAnswer*> answers_;
  std::size_t appends_ = 0;
};

// The context that a record's checksum covers in addition to its bytes.
struct PgPlace {
  SessionId session;
  Seq seq = 0;
};
std::int64_t record_crc(const PgPlace& place, std::string_view record);

}  // namespace perdure
