// What the writer does outside of groups: takes sessions and records away, and looks after the
// node's heartbeat, old answers and the search index.
#include <utility>

#include "store_postgres/pg_writer.h"

namespace perdure {
namespace {

constexpr int tries_max = 3;

constexpr PgStatement remove_session{"remove_session", R"(
WITH life AS (
  UPDATE perdure.lives SET groups = $4 WHERE epoch = $2 AND link = $3 AND node = $1 RETURNING 1),
held AS (
  DELETE FROM perdure.leases WHERE session = $5 AND node = $1 AND epoch = $2 RETURNING 1),
gone AS (DELETE FROM perdure.sessions WHERE id = $5 RETURNING 1),
records AS (DELETE FROM perdure.records WHERE session = $5),
outbox AS (DELETE FROM perdure.outbox WHERE session = $5),
refs AS (DELETE FROM perdure.refs WHERE session = $5),
snapshots AS (DELETE FROM perdure.snapshots WHERE session = $5),
texts AS (DELETE FROM perdure.texts WHERE session = $5),
owned AS (DELETE FROM perdure.blob_owners WHERE session = $5 RETURNING hash),
blobs AS (
  DELETE FROM perdure.blobs b USING owned o WHERE b.hash = o.hash AND NOT EXISTS (
    SELECT 1 FROM perdure.blob_owners x WHERE x.hash = b.hash AND x.session <> $5))
SELECT perdure.must((SELECT count(*) FROM life), (SELECT count(*) FROM held),
  (SELECT count(*) FROM gone), 1)
)"};

// The texts are made anew from the records, of which this one has no words any more.
constexpr PgStatement redact_record{"redact_record", R"(
WITH life AS (
  UPDATE perdure.lives SET groups = $4 WHERE epoch = $2 AND link = $3 AND node = $1 RETURNING 1),
held AS MATERIALIZED (
  SELECT 1 FROM perdure.leases WHERE session = $5 AND node = $1 AND epoch = $2 FOR SHARE),
changed AS (
  UPDATE perdure.records SET crc = $7, bytes = $8 WHERE session = $5 AND seq = $6 RETURNING 1),
snapshots AS (DELETE FROM perdure.snapshots WHERE session = $5),
blobs AS (DELETE FROM perdure.blobs WHERE hash = ANY($9::bytea[])),
owners AS (DELETE FROM perdure.blob_owners WHERE hash = ANY($9::bytea[])),
texts AS (DELETE FROM perdure.texts WHERE session = $5),
unsearched AS (UPDATE perdure.sessions SET searched = 0 WHERE id = $5)
SELECT perdure.must((SELECT count(*) FROM life), (SELECT count(*) FROM held),
  (SELECT count(*) FROM changed), 1)
)"};

constexpr PgStatement forget_old{"forget_old", R"(
WITH life AS (
  UPDATE perdure.lives SET groups = $4 WHERE epoch = $2 AND link = $3 AND node = $1 RETURNING 1),
gone AS (DELETE FROM perdure.answers WHERE expires < $5)
SELECT perdure.must((SELECT count(*) FROM life), 1, 1, 1)
)"};

constexpr PgStatement set_good{"set_good", R"(
WITH life AS (
  UPDATE perdure.lives SET groups = $4 WHERE epoch = $2 AND link = $3 AND node = $1 RETURNING 1),
judged AS (UPDATE perdure.sessions SET good = CASE WHEN $6 < 0 THEN NULL ELSE $6 END WHERE id = $5)
SELECT perdure.must((SELECT count(*) FROM life), 1, 1, 1)
)"};

constexpr PgStatement heartbeat{
    "heartbeat", "UPDATE perdure.nodes SET heartbeat = now() WHERE name = $1 AND epoch = $2"};
// Whoever comes next need not wait for this node's silence.
constexpr PgStatement farewell{
    "farewell",
    "WITH n AS (UPDATE perdure.nodes SET heartbeat = '-infinity' WHERE name = $1 AND epoch = $2) "
    "UPDATE perdure.leases SET expires = '-infinity' WHERE node = $1 AND epoch = $2"};

PgParams params_of(const PgTurn& turn) {
  PgParams params;
  params.text(turn.node).number(turn.epoch).number(turn.link).number(turn.group);
  return params;
}

}  // namespace

Result<> PgWriter::change(const PgStatement& statement, const MakeParams& params) {
  for (int tries = 0; tries < tries_max; ++tries) {
    TRY_VOID(be_linked());
    ++groups_;
    const PgResult<PgRows> done = link_->run(statement, params(turn()));
    if (done) return {};
    const PgFailure& failure = done.error();
    if (failure.state == "PD001") {
      is_fenced_ = true;
      return std::unexpected(fenced());
    }
    if (failure.trouble != PgTrouble::lost && !failure.is_passing()) {
      if (failure.state != "PD003") return std::unexpected(failure.error());
      return fail(Code::not_found, "there is no such session or record");
    }
    if (failure.trouble != PgTrouble::lost) continue;
    lose_link();
    const Result<> linked = be_linked();
    if (!linked && !is_fenced_) {
      return fail(Code::unavailable,
                  "the database server was lost; whether it was done shows when it is asked again");
    }
    if (is_last_there_) return {};
  }
  return fail(Code::unavailable, "the database was too busy; nothing was changed");
}

// Takes the lease, if it is free, and reads what is stored. not_found: nothing is.
Result<> PgWriter::know(SessionId session) {
  for (int tries = 0; tries < tries_max && !known_.contains(session); ++tries) {
    TRY_VOID(be_linked());
    const PgResult<PgRows> loaded = load({session});
    if (!loaded && loaded.error().trouble == PgTrouble::lost) lose_link();
    if (!loaded && loaded.error().trouble != PgTrouble::lost) {
      return std::unexpected(loaded.error().error());
    }
    if (is_fenced_) return std::unexpected(fenced());
    if (loaded) break;
  }
  const auto known = known_.find(session);
  if (known == known_.end()) {
    return fail(Code::stale_owner, session.text() + " belongs to another node");
  }
  if (known->second.head) return {};
  return fail(Code::not_found, "there is no session " + session.text());
}

Result<> PgWriter::remove(SessionId session) {
  const auto held = TRY(lock());
  TRY_VOID(know(session));
  const Result<> removed = change(
      remove_session, [&](const PgTurn& turn) { return params_of(turn).id(session.ulid()); });
  known_.erase(session);
  if (removed && search_) search_->forget(session);
  return removed;
}

Result<> PgWriter::redact(const Redaction& redaction) {
  const auto held = TRY(lock());
  TRY_VOID(know(redaction.session));
  if (redaction.seq == 0 || redaction.seq > known_.at(redaction.session).head.value_or(0)) {
    return fail(Code::not_found, "there is no record " + std::to_string(redaction.seq));
  }
  PgArray blobs(PgType::bytes);
  for (const Hash& hash : redaction.blobs) blobs.add(hash);
  const std::int64_t crc =
      record_crc({.session = redaction.session, .seq = redaction.seq}, redaction.replacement);
  const Result<> redacted = change(redact_record, [&](const PgTurn& turn) {
    return params_of(turn)
        .id(redaction.session.ulid())
        .number(redaction.seq)
        .number(crc)
        .bytes(redaction.replacement)
        .array(blobs);
  });
  if (search_) search_->note(redaction.session);
  return redacted;
}

Result<> PgWriter::forget_answers(Timestamp now) {
  const auto held = TRY(lock());
  return change(forget_old, [&](const PgTurn& turn) { return params_of(turn).number(now.ms); });
}

Result<> PgWriter::judge(SessionId session, const std::optional<Seq>& good) {
  const auto held = TRY(lock());
  known_.erase(session);
  return change(set_good, [&](const PgTurn& turn) {
    return params_of(turn)
        .id(session.ulid())
        .number(good ? static_cast<std::int64_t>(*good) : std::int64_t{-1});
  });
}

bool PgWriter::idle_step() {
  const std::unique_lock lock(write_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || unresolved_ || is_fenced_) return false;
  if (!link_ || !link_->looks_alive()) {
    if (link_) lose_link();
    if (Clock::now() < next_try_ || !relink()) return false;
  }
  if (commits_.is_full()) commits_.probe_space();
  return beat() && search_slice();
}

// Whether the connection still serves.
bool PgWriter::beat() {
  if (Clock::now() < next_beat_) return true;
  next_beat_ = Clock::now() + options_.heartbeat;
  const PgResult<PgRows> done =
      link_->run(heartbeat, PgParams().text(options_.node).number(life_.epoch));
  if (!done && done.error().trouble == PgTrouble::lost) lose_link();
  return done.has_value();
}

bool PgWriter::search_slice() {
  if (!search_) return false;
  const PgResult<bool> more = search_->slice(*link_);
  if (!more && more.error().trouble == PgTrouble::lost) lose_link();
  return more.value_or(false);
}

PgWriter::~PgWriter() { (void)shut_down(); }

Result<> PgWriter::shut_down() {
  const auto held = TRY(lock());
  if (!link_ || link_->is_lost()) return fail(Code::unavailable, "the database server is away");
  const PgResult<PgRows> done =
      link_->run(farewell, PgParams().text(options_.node).number(life_.epoch));
  if (!done) return std::unexpected(done.error().error());
  return {};
}

}  // namespace perdure
