#include "store_postgres/postgres_store.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "store_postgres/pg_leases.h"
#include "store_postgres/pg_listener.h"
#include "store_postgres/pg_readers.h"
#include "store_postgres/pg_search.h"
#include "store_postgres/pg_writer.h"

namespace perdure {
namespace {

constexpr auto number_max = std::numeric_limits<std::int64_t>::max();

// Toasted bytes are not fetched for their length, so what lies behind the limit costs nothing.
constexpr PgStatement read_records{"read_records", R"(
SELECT seq, crc, bytes FROM (
  SELECT seq, crc, bytes, sum(length(bytes)) OVER (ORDER BY seq) - length(bytes) AS before
  FROM (SELECT seq, crc, bytes FROM perdure.records
    WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3) page) summed
WHERE before < $4 ORDER BY seq
)"};
constexpr PgStatement read_head{
    "read_head", "SELECT head, cursor_exec, cursor_frame FROM perdure.sessions WHERE id = $1"};
constexpr PgStatement read_good{"read_good",
                                "SELECT good IS NOT NULL FROM perdure.sessions WHERE id = $1"};
constexpr PgStatement read_snapshot{"read_snapshot",
                                    "SELECT seq, bytes FROM perdure.snapshots WHERE session = $1"};
constexpr PgStatement read_outbox{
    "read_outbox", "SELECT number, payload FROM perdure.outbox WHERE session = $1 ORDER BY number"};
constexpr PgStatement read_answer{
    "read_answer", "SELECT key, body, answer, expires FROM perdure.answers WHERE key = $1"};
constexpr PgStatement read_answers{
    "read_answers",
    "SELECT key, body, answer, expires FROM perdure.answers WHERE key > $1 ORDER BY key LIMIT $2"};
constexpr PgStatement read_ref{"read_ref", "SELECT session FROM perdure.refs WHERE ref = $1"};
constexpr PgStatement read_blob{"read_blob", "SELECT bytes FROM perdure.blobs WHERE hash = $1"};
constexpr PgStatement read_list{
    "read_list",
    "SELECT id, open, archived, updated, summary FROM perdure.sessions WHERE id > $1 "
    "ORDER BY id LIMIT $2"};
constexpr PgStatement read_refs{"read_refs",
                                "SELECT ref FROM perdure.refs WHERE session = $1 ORDER BY ref"};
constexpr PgStatement read_owned{
    "read_owned", "SELECT hash FROM perdure.blob_owners WHERE session = $1 ORDER BY hash"};

std::int64_t clamped(std::uint64_t number) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, number_max));
}

Result<Hash> hash_at(const PgRows& rows, PgRows::At at) {
  Hash out;
  const std::string_view bytes = rows.bytes(at);
  if (bytes.size() != out.bytes.size()) {
    return fail(Code::damaged, "a row of the database is damaged: it holds " +
                                   std::to_string(bytes.size()) + " bytes instead of a hash");
  }
  std::ranges::copy(bytes, out.bytes.begin());
  return out;
}

Result<StoredAnswer> answer_at(const PgRows& rows, std::size_t row) {
  StoredAnswer out{.key = std::string(rows.bytes({.row = row, .column = 0})),
                   .body = TRY(hash_at(rows, {.row = row, .column = 1})),
                   .answer = std::string(rows.bytes({.row = row, .column = 2}))};
  const PgRows::At expires{.row = row, .column = 3};
  if (!rows.is_null(expires)) out.expires = Timestamp{rows.number(expires)};
  return out;
}

}  // namespace

PostgresStore::PostgresStore(const PostgresOptions& options, std::unique_ptr<PgWriter> writer)
    : readers_(std::make_unique<PgReaders>(PgReaders::Setting{.place = options.place,
                                                              .times = options.read_times,
                                                              .links_max = options.readers_max,
                                                              .pause = options.read_pause})),
      leases_(std::make_unique<PgLeases>(*readers_,
                                         PgLeases::Setting{.node = options.node,
                                                           .home = options.home,
                                                           .epoch = writer->epoch(),
                                                           .lease_ms = options.lease.count()})),
      writer_(std::move(writer)) {
  if (!options.on_changed) return;
  listener_ = std::make_unique<PgListener>(
      PgListener::Setting{.place = options.place,
                          .times = options.read_times,
                          .epoch = writer_->epoch(),
                          .retry_first = options.retry_first,
                          .retry_max = options.retry_max,
                          .on_other = [writer = writer_.get()] { writer->meet_other(); },
                          .on_changed = options.on_changed,
                          .on_redacted = options.on_redacted});
}

PostgresStore::~PostgresStore() = default;

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(PostgresOptions options) {
  CHECK(!options.node.empty(), "a node has a name");
  std::unique_ptr<PgWriter> writer = TRY(PgWriter::open(options));
  return std::unique_ptr<PostgresStore>(new PostgresStore(options, std::move(writer)));
}

void PostgresStore::append(Append batch, Done done) {
  writer_->append(std::move(batch), std::move(done));
}

Result<RecordPage> PostgresStore::read(SessionId session, ReadRange range) {
  RecordPage page;
  if (range.after < number_max && range.limit > 0) {
    PgParams params;
    params.id(session.ulid()).number(range.after).number(clamped(range.limit));
    params.number(clamped(std::max<std::size_t>(range.bytes_max, 1)));
    const PgRows rows = TRY(readers_->run(read_records, params));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const Seq seq = rows.u64({.row = row, .column = 0});
      const std::string_view record = rows.bytes({.row = row, .column = 2});
      const bool is_whole =
          seq == range.after + row + 1 && record_crc({.session = session, .seq = seq}, record) ==
                                              rows.number({.row = row, .column = 1});
      if (!is_whole && row > 0) return page;
      if (!is_whole) {
        return fail(Code::damaged,
                    session.text() + " is damaged behind record " + std::to_string(range.after));
      }
      page.records.emplace_back(record);
    }
    if (!page.records.empty()) {
      page.first = range.after + 1;
      return page;
    }
  }
  const SessionHead known = TRY(head(session));
  if (range.after > known.seq) {
    return fail(Code::cursor_invalid, "record " + std::to_string(range.after) + " is beyond " +
                                          std::to_string(known.seq));
  }
  if (range.after < known.seq && range.limit > 0) {
    // Either a commit came in between, or the rows are gone.
    const PgRows again = TRY(readers_->run(read_records, PgParams()
                                                             .id(session.ulid())
                                                             .number(range.after)
                                                             .number(std::uint64_t{1})
                                                             .number(std::uint64_t{1})));
    if (!again.is_empty()) return read(session, range);
    return fail(Code::damaged,
                session.text() + " is damaged behind record " + std::to_string(range.after));
  }
  return page;
}

Result<SessionHead> PostgresStore::head(SessionId session) {
  const PgRows rows = TRY(readers_->run(read_head, PgParams().id(session.ulid())));
  if (rows.is_empty()) return fail(Code::not_found, "there is no session " + session.text());
  SessionHead out{.seq = rows.u64({}), .cursor = {}};
  if (!rows.is_null({.row = 0, .column = 1})) {
    out.cursor = FrameCursor{.exec = ExecId(rows.id({.row = 0, .column = 1})),
                             .frame = rows.u64({.row = 0, .column = 2})};
  }
  return out;
}

Result<std::optional<StoredSnapshot>> PostgresStore::snapshot(SessionId session) {
  const PgRows rows = TRY(readers_->run(read_snapshot, PgParams().id(session.ulid())));
  if (rows.is_empty()) return std::nullopt;
  return StoredSnapshot{.seq = rows.u64({}),
                        .bytes = std::string(rows.bytes({.row = 0, .column = 1}))};
}

Result<std::vector<OutboxRow>> PostgresStore::outbox(SessionId session) {
  const PgRows rows = TRY(readers_->run(read_outbox, PgParams().id(session.ulid())));
  std::vector<OutboxRow> out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    out.push_back({.number = rows.u64({.row = row, .column = 0}),
                   .payload = std::string(rows.bytes({.row = row, .column = 1}))});
  }
  return out;
}

Result<std::optional<StoredAnswer>> PostgresStore::answer(std::string_view key) {
  const PgRows rows = TRY(readers_->run(read_answer, PgParams().bytes(key)));
  if (rows.is_empty()) return std::nullopt;
  return TRY(answer_at(rows, 0));
}

Result<std::vector<StoredAnswer>> PostgresStore::answers(std::string_view after,
                                                         std::size_t limit) {
  const PgRows rows =
      TRY(readers_->run(read_answers, PgParams().bytes(after).number(clamped(limit))));
  std::vector<StoredAnswer> out;
  for (std::size_t row = 0; row < rows.size(); ++row) out.push_back(TRY(answer_at(rows, row)));
  return out;
}

Result<std::optional<SessionId>> PostgresStore::find_ref(std::string_view ref) {
  const PgRows rows = TRY(readers_->run(read_ref, PgParams().bytes(ref)));
  if (rows.is_empty()) return std::nullopt;
  return SessionId(rows.id({}));
}

Result<std::string> PostgresStore::blob(const Hash& hash) {
  const PgRows rows = TRY(readers_->run(read_blob, PgParams().bytes(pg_bytes(hash))));
  if (rows.is_empty()) return fail(Code::not_found, "there is no blob " + hash.hex());
  std::string bytes(rows.bytes({}));
  if (sha256(bytes) != hash) return fail(Code::damaged, "the blob " + hash.hex() + " is damaged");
  return bytes;
}

Result<std::vector<SessionId>> PostgresStore::open_sessions() { return leases_->open_sessions(); }
Result<Lease> PostgresStore::own(SessionId session) { return leases_->own(session); }
Result<std::vector<SessionId>> PostgresStore::orphans(std::size_t limit) {
  return leases_->orphans(limit);
}
Result<std::vector<SessionId>> PostgresStore::lost(std::span<const OwnedSession> owned) {
  return leases_->lost(owned);
}
Result<> PostgresStore::offer(const OwnedSession& owned, const std::string& home) {
  return leases_->offer(owned, home);
}
Result<std::string> PostgresStore::shared_key() { return writer_->shared_key(); }
Result<std::vector<StoreNode>> PostgresStore::nodes() { return leases_->nodes(); }
Result<std::map<SessionId, std::string>> PostgresStore::owners(
    std::span<const SessionId> sessions) {
  return leases_->owners(sessions);
}
Result<> PostgresStore::announce(const std::string& address) { return leases_->announce(address); }

Result<std::vector<ListedSession>> PostgresStore::list(SessionId after, std::size_t limit) {
  const PgRows rows =
      TRY(readers_->run(read_list, PgParams().id(after.ulid()).number(clamped(limit))));
  std::vector<ListedSession> out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto at = [&](int column) { return PgRows::At{.row = row, .column = column}; };
    out.push_back({.session = SessionId(rows.id(at(0))),
                   .listing = {.open = rows.flag(at(1)),
                               .archived = rows.flag(at(2)),
                               .updated = Timestamp{rows.number(at(3))},
                               .summary = std::string(rows.bytes(at(4)))}});
  }
  return out;
}

Result<std::vector<SearchHit>> PostgresStore::search(const SearchAsk& ask) {
  return search_texts(*readers_, ask);
}

Result<SessionBelongings> PostgresStore::belongings(SessionId session) {
  TRY(head(session));
  SessionBelongings out;
  const PgRows refs = TRY(readers_->run(read_refs, PgParams().id(session.ulid())));
  for (std::size_t row = 0; row < refs.size(); ++row)
    out.refs.emplace_back(refs.bytes({.row = row}));
  const PgRows owned = TRY(readers_->run(read_owned, PgParams().id(session.ulid())));
  for (std::size_t row = 0; row < owned.size(); ++row) {
    out.blobs.push_back(TRY(hash_at(owned, {.row = row, .column = 0})));
  }
  return out;
}

// What is to be changed has to be there, and ours.
Result<OwnedSession> PostgresStore::hold(SessionId session) {
  TRY(head(session));
  const Lease lease = TRY(own(session));
  if (lease.epoch > 0) return OwnedSession{.session = session, .epoch = lease.epoch};
  return fail(Code::stale_owner, session.text() + " belongs to the node '" + lease.node + "'");
}

Result<> PostgresStore::remove(SessionId session) { return writer_->remove(TRY(hold(session))); }
Result<> PostgresStore::redact(Redaction redaction) {
  return writer_->redact(TRY(hold(redaction.session)), redaction);
}
std::string PostgresStore::bytes_kept() const {
  return "VACUUM FULL has passed over the tables of the schema perdure, and the server's own logs "
         "and backups have expired";
}
std::uint64_t PostgresStore::epoch() const { return writer_->epoch(); }
const std::string& PostgresStore::log_id() const { return writer_->log_id(); }
bool PostgresStore::step() { return writer_->step(); }
bool PostgresStore::idle_step() { return writer_->idle_step(); }
bool PostgresStore::wait_for_work(std::chrono::milliseconds timeout) {
  return writer_->wait_for_work(timeout);
}
void PostgresStore::wake() { writer_->wake(); }
Result<> PostgresStore::shut_down() { return writer_->shut_down(); }
Result<> PostgresStore::forget_answers(Timestamp now) { return writer_->forget_answers(now); }
EngineTotals PostgresStore::totals() { return writer_->totals(); }

Result<> PostgresStore::backup(std::string /*path*/, Done /*done*/) {
  return fail(Code::invalid_argument,
              "a journal in PostgreSQL is backed up with pg_dump, or copied with: perdure store "
              "copy postgres://… sqlite:FILE");
}

Result<bool> has_postgres_store(const std::string& place) {
  const std::unique_ptr<PgLink> link = TRY(PgLink::open(place, {}));
  return has_store(*link);
}

Result<> drop_postgres_store(const std::string& place) {
  const std::unique_ptr<PgLink> link = TRY(PgLink::open(place, {}));
  const PgResult<PgRows> dropped = link->script("DROP SCHEMA IF EXISTS perdure CASCADE");
  if (!dropped) return std::unexpected(dropped.error().error());
  return {};
}

// Records are read as anybody reads them: what is damaged says so.
Result<> PostgresStore::verify_session(SessionId session, VerifyReport& report) {
  const Result<SessionHead> known = head(session);
  if (!known && known.error().code() == Code::not_found) return {};
  if (!known) return std::unexpected(known.error());
  std::optional<Seq> good;
  Seq at = 0;
  while (at < known->seq && !good) {
    const Result<RecordPage> page = read(session, {.after = at, .limit = 1000});
    if (page) {
      at += page->records.size();
    } else if (page.error().code() == Code::damaged) {
      good = at;
    } else if (page.error().code() == Code::not_found) {
      return {};  // removed meanwhile
    } else {
      return std::unexpected(page.error());
    }
  }
  report.session_count += 1;
  report.record_count += at;
  if (good) {
    report.damages.push_back(
        {.session = session,
         .good = *good,
         .what = session.text() + " is damaged behind record " + std::to_string(*good)});
  }
  const PgRows judged = TRY(readers_->run(read_good, PgParams().id(session.ulid())));
  const bool was_damaged = !judged.is_empty() && judged.flag({});
  return good || was_damaged ? writer_->judge(session, good) : Result<>();
}

Result<VerifyReport> PostgresStore::verify(const OnVerified& on_session) {
  VerifyReport report;
  SessionId after;
  while (true) {
    const std::vector<ListedSession> listed = TRY(list(after, 256));
    if (listed.empty()) return report;
    for (const ListedSession& line : listed) {
      TRY_VOID(verify_session(line.session, report));
      if (on_session && !on_session(report)) return report;
    }
    after = listed.back().session;
  }
}

}  // namespace perdure
