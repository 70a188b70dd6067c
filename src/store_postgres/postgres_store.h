// The engine for a PostgreSQL server: the same promises as the embedded ones, with a network and a
// second program in between. A group of appends is one statement and so one transaction; a commit
// whose answer did not come is looked up on the next connection before anybody is answered.
//
// Who runs it: as the others, one thread made by main that steps. Reads come from any thread and
// have connections of their own. Every wait has a limit, which PostgresOptions names.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine.h"
#include "store_postgres/pg_link.h"
#include "wire/search_text.h"

namespace perdure {

struct PostgresOptions {
  std::string place;                // a URL as libpq reads it, without a password
  std::string node;                 // the name of this daemon among those on the database
  std::string home = {};            // where its agents live: nodes of one home reach each other's
  std::string instance;             // of this process
  std::string new_log_id;           // for a new store, or a dump that was restored elsewhere
  std::string new_shared_key = {};  // for a store that has none: 32 random bytes as hex
  std::uint64_t epoch_min = 0;      // the epoch is a later one

  // Runs once when another instance of this node has taken over: this one has to end. What it had
  // under way is answered before, with stale_owner.
  std::function<void(Error)> on_fatal;
  // Other nodes have committed something to these sessions; without any: nobody knows what they
  // did. A hint that may come late, for nothing, or not at all. Runs on a thread of its own.
  std::function<void(std::vector<SessionId>)> on_changed = {};
  // Text was taken back from the journals of these sessions, or of any. A hint like the other.
  std::function<void(std::vector<SessionId>)> on_redacted = {};
  // As SqliteOptions has it.
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece;

  bool create = true;                       // false: a database without a store is not_found
  bool alone = false;                       // true: while another node is heard of, conflict
  std::size_t group_bytes_max = 8UL << 20;  // a commit takes no more appends behind this
  std::size_t readers_max = 4;              // connections for reads

  PgTimes write_times{.connect = std::chrono::milliseconds(3'000),
                      .statement = std::chrono::milliseconds(20'000)};
  PgTimes read_times{.connect = std::chrono::milliseconds(2'000),
                     .statement = std::chrono::milliseconds(2'000)};
  // Appends wait so long for a server that is away; then they are refused as unavailable.
  std::chrono::milliseconds patience{10'000};
  // Between two tries to reach it, doubled from the first to the second.
  std::chrono::milliseconds retry_first{50};
  std::chrono::milliseconds retry_max{1'000};
  // A connection for reads that could not be made is not tried again for so long.
  std::chrono::milliseconds read_pause{500};
  // The sessions of a node that was not heard of for so long may be taken by another. A heartbeat
  // goes out five times in it.
  std::chrono::milliseconds lease{10'000};
  // Behind a commit the search index waits so long, so that a message is written once.
  std::size_t search_slice_bytes = 1UL << 20;
};

class PgLeases;
class PgListener;
class PgReaders;
class PgWriter;

class PostgresStore final : public StoreEngine {
 public:
  // Connects, brings the schema up to date and begins a life, which shuts out the one of this node
  // that was before. Errors: unavailable, denied, format_too_new, not_found, invalid_argument,
  // conflict while a node of an older version is heard of. After an error nothing is changed.
  static Result<std::unique_ptr<PostgresStore>> open(PostgresOptions options);
  ~PostgresStore() override;

  void append(Append batch, Done done) override;
  Result<RecordPage> read(SessionId session, ReadRange range) override;
  Result<SessionHead> head(SessionId session) override;
  Result<std::optional<StoredSnapshot>> snapshot(SessionId session) override;
  Result<std::vector<OutboxRow>> outbox(SessionId session) override;
  Result<std::optional<StoredAnswer>> answer(std::string_view key) override;
  Result<std::optional<SessionId>> find_ref(std::string_view ref) override;
  Result<std::string> blob(const Hash& hash) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::vector<ListedSession>> list(SessionId after, std::size_t limit) override;
  Result<std::vector<SearchHit>> search(const SearchAsk& ask) override;
  Result<> remove(SessionId session) override;
  Result<> redact(Redaction redaction) override;
  std::string bytes_kept() const override;
  bool is_shared() const override { return true; }
  Result<Lease> own(SessionId session) override;
  Result<std::vector<SessionId>> orphans(std::size_t limit) override;
  Result<std::vector<SessionId>> lost(std::span<const OwnedSession> owned) override;
  Result<> offer(const OwnedSession& owned, const std::string& home) override;
  std::uint64_t epoch() const override;
  const std::string& log_id() const override;

  bool step() override;
  bool idle_step() override;
  bool wait_for_work(std::chrono::milliseconds timeout) override;
  void wake() override;
  Result<> shut_down() override;
  // Always invalid_argument: pg_dump and `store copy` are the ways.
  Result<> backup(std::string path, Done done) override;
  Result<> forget_answers(Timestamp now) override;
  using StoreEngine::verify;
  Result<VerifyReport> verify(const OnVerified& on_session) override;
  EngineTotals totals() override;
  Result<std::string> shared_key() override;
  Result<std::vector<StoreNode>> nodes() override;
  Result<std::map<SessionId, std::string>> owners(std::span<const SessionId> sessions) override;
  Result<> announce(const std::string& address) override;
  Result<SessionBelongings> belongings(SessionId session) override;
  Result<std::vector<StoredAnswer>> answers(std::string_view after, std::size_t limit) override;

 private:
  PostgresStore(const PostgresOptions& options, std::unique_ptr<PgWriter> writer);
  Result<OwnedSession> hold(SessionId session);
  Result<> verify_session(SessionId session, VerifyReport& report);

  std::unique_ptr<PgReaders> readers_;
  std::unique_ptr<PgLeases> leases_;
  std::unique_ptr<PgWriter> writer_;
  std::unique_ptr<PgListener> listener_;  // nothing when nobody wants to know
};

// For copies. Whether a store is in the database; and taking it away, with everything in it.
Result<bool> has_postgres_store(const std::string& place);
Result<> drop_postgres_store(const std::string& place);

}  // namespace perdure
