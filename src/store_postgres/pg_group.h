// A group of appends as the columns of one statement. What several appends of a session do to one
// row is folded before: the statement touches each row once, checks that this life, its leases and
// the heads are as they were thought to be, and is a transaction by itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"
#include "store_postgres/pg_link.h"

namespace perdure {

// Which commit of which connection of which life: the server takes it only while this is the newest
// connection of a life that nobody has shut out, and remembers the number.
struct PgTurn {
  std::string node;
  std::uint64_t epoch = 0;
  std::uint64_t link = 0;
  std::uint64_t group = 0;
};

class PgGroup {
 public:
  // What is stored of a session, and the lease that its append needs.
  struct Stored {
    std::optional<Seq> head;             // nothing: it is not there
    std::optional<std::uint64_t> lease;  // its epoch; nothing: the head decides alone
  };
  // Takes an append that was found to fit; it has to outlive the group.
  void add(const Append& append, const Stored& stored);
  bool is_empty() const { return sessions_.empty(); }
  std::size_t append_count() const { return appends_; }

  std::vector<SessionId> sessions() const;
  // The heads behind the group.
  std::vector<std::pair<SessionId, Seq>> heads() const;
  std::vector<std::string> answer_keys() const;
  bool gives_blob(const Hash& hash) const { return blobs_.contains(hash); }

  static PgStatement statement();
  // With a hint other nodes are told that it was committed; empty: nobody is.
  PgParams params(const PgTurn& turn, std::string_view hint) const;

 private:
  struct Change {
    std::optional<Seq> head_before;  // nothing: a new session
    std::optional<std::uint64_t> lease;
    Seq head = 0;
    std::optional<FrameCursor> cursor;
    const Listing* listing = nullptr;
    std::map<std::uint64_t, std::string_view> outbox_add;
    std::set<std::uint64_t> outbox_done;
    std::set<Hash> blobs;  // given, or referred to
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
  std::set<Hash> blob_refs_;  // that the group does not bring itself
  std::vector<const StoredAnswer*> answers_;
  std::size_t appends_ = 0;
};

// What the checksum of a record covers: whose it is, and its bytes.
struct PgPlace {
  SessionId session;
  Seq seq = 0;
};
std::int64_t record_crc(const PgPlace& place, std::string_view record);

}  // namespace perdure
