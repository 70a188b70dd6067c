// The engine for a PostgreSQL server: the same guarantees as the embedded engines, over a network.
// A group of appends is one statement and so one transaction. If its answer is lost, the next
// connection finds out whether it was committed before any append is answered.
//
// Running it: as for the others, main creates one thread that steps. Reads come from any thread and
// have their own connections. Every wait has a limit in PostgresOptions.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/search_text.h"
#include "store/engine.h"
#include "store/postgres/link/pg_link.h"

namespace perdure {

struct PostgresOptions {
  std::string place;                // a URL for libpq, without a password
  std::string node;                 // this daemon's name, unique on the database
  std::string home = {};            // where its agents live; nodes of one home can reach them
  std::string instance;             // of this process
  std::string new_log_id;           // for a new store, or a dump restored elsewhere
  std::string new_shared_key = {};  // for a store without one: 32 random bytes as hex
  std::uint64_t epoch_min = 0;      // the epoch is above this

  // Runs once when another instance of this node has taken over: the process must exit. Appends in
  // flight are answered first, with stale_owner.
  std::function<void(Error)> on_fatal;
  // Other nodes committed changes to these sessions; none: to any session. A hint: it may be late,
  // unnecessary or missing. Runs on its own thread.
  std::function<void(std::vector<SessionId>)> on_changed = {};
  // Text was redacted in the journals of these sessions, or of any. Also only a hint.
  std::function<void(std::vector<SessionId>)> on_redacted = {};
  // As in SqliteOptions.
  std::function<std::optional<SearchPiece>(std::string_view record)> search_piece;

  bool create = true;                       // false: a database without a store is not_found
  bool alone = false;                       // true: conflict if another node is alive
  std::size_t group_bytes_max = 8UL << 20;  // a commit takes no more appends after this
  std::size_t readers_max = 4;              // connections for reads

  PgTimes write_times{.connect = std::chrono::milliseconds(3'000),
                      .statement = std::chrono::milliseconds(20'000)};
  PgTimes read_times{.connect = std::chrono::milliseconds(2'000),
                     .statement = std::chrono::milliseconds(2'000)};
  // How long appends wait for an unreachable server before they fail as unavailable.
  std::chrono::milliseconds patience{10'000};
  // The delay between attempts to connect, doubled from the first to the second value.
  std::chrono::milliseconds retry_first{50};
  std::chrono::milliseconds retry_max{1'000};
  // The pause after a failed attempt to open a connection for reads.
  std::chrono::milliseconds read_pause{500};
  // Another node may take the sessions of a node without a sign of life for this long. Five
  // heartbeats are sent within it.
  std::chrono::milliseconds lease{10'000};
  // Bytes of records that the search index processes at once.
  std::size_t search_slice_bytes = 1UL << 20;
};

class PgLeases;
class PgListener;
class PgReaders;
class PgWriter;

class PostgresStore final : public StoreEngine {
 public:
  // Connects, migrates the schema and begins a life, which shuts out this node's previous one.
  // Errors: unavailable, denied, format_too_new, not_found, invalid_argument, conflict if a node of
  // an older version is alive. After an error nothing is changed.
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
  // Always invalid_argument: use pg_dump or `store copy`.
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
  std::unique_ptr<PgListener> listener_;  // null if there are no callbacks
};

// For copies: checks for a store in the database; deletes it with all its contents.
Result<bool> has_postgres_store(const std::string& place);
Result<> drop_postgres_store(const std::string& place);

}  // namespace perdure
