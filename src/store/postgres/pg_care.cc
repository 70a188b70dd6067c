// The writer's work outside of groups: removing sessions, redacting records, the node's heartbeat,
// old answers and the search index.
#include <utility>

#include "store/postgres/pg_hints.h"
#include "store/postgres/pg_writer.h"

namespace perdure {
namespace {

constexpr int tries_max = 3;
constexpr int beats_per_lease = 5;

constexpr PgStatement remove_session{"remove_session",
                                     "SELECT perdure.remove_session($1, $2, $3, $4, $5, $6, $7)"};

// The texts are rebuilt from the records; this record no longer has words. The mark is set to a
// value at which no slice began, so a slice that read the old record fails to write its texts.
constexpr PgStatement redact_record{"redact_record", R"(
WITH life AS (
  UPDATE perdure.lives SET groups = $4 WHERE epoch = $2 AND link = $3 AND node = $1 RETURNING 1),
held AS MATERIALIZED (
  SELECT 1 FROM perdure.leases WHERE session = $5 AND node = $1 AND epoch = $6 FOR SHARE),
changed AS (
  UPDATE perdure.records SET crc = $9, bytes = $10 WHERE session = $5 AND seq = $8 RETURNING 1),
snapshots AS (DELETE FROM perdure.snapshots WHERE session = $5),
texts AS (DELETE FROM perdure.texts WHERE session = $5),
unsearched AS (
  UPDATE perdure.sessions SET searched = least(searched, 0) - 1 WHERE id = $5)
SELECT perdure.must((SELECT count(*) FROM life),
  CASE WHEN $6 = 0 THEN 1 ELSE (SELECT count(*) FROM held) END,
  (SELECT count(*) FROM changed), 1), perdure.drop_blobs($11::bytea[]),
  CASE WHEN $7 <> '' THEN pg_notify('perdure', $7) END
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

// Returns whether another node is alive; no row if this life was replaced.
constexpr PgStatement heartbeat{"heartbeat", R"(
UPDATE perdure.nodes SET heartbeat = now() WHERE name = $1 AND epoch = $2
RETURNING EXISTS (SELECT 1 FROM perdure.nodes o WHERE o.name <> $1
  AND o.heartbeat >= now() - $3 * interval '1 millisecond')
)"};
// So that the next owner need not wait for this node to count as silent.
constexpr PgStatement farewell{
    "farewell", "UPDATE perdure.nodes SET heartbeat = '-infinity' WHERE name = $1 AND epoch = $2"};

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
      return fail(Code::not_found, "no such session or record");
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

// Reads the stored state of a session held under that epoch. not_found: nothing is stored.
Result<PgWriter::Known> PgWriter::know(const OwnedSession& owned) {
  for (int tries = 0; tries < tries_max; ++tries) {
    TRY_VOID(be_linked());
    const PgResult<PgRows> loaded = load({.sessions = {owned.session}, .take = {}});
    if (!loaded && loaded.error().trouble == PgTrouble::lost) lose_link();
    if (!loaded && loaded.error().trouble != PgTrouble::lost) {
      return std::unexpected(loaded.error().error());
    }
    if (is_fenced_) return std::unexpected(fenced());
    if (loaded) break;
  }
  const auto known = known_.find(owned.session);
  // Epoch 0: of a journal that every node writes, which no lease is for.
  const bool is_known = known != known_.end();
  if (!is_known || (owned.epoch != 0 && known->second.lease != owned.epoch)) {
    return fail(Code::stale_owner, owned.session.text() + " belongs to another node");
  }
  if (known->second.head) return known->second;
  return fail(Code::not_found, "no such session: " + owned.session.text());
}

Result<> PgWriter::remove(const OwnedSession& owned) {
  const auto held = TRY(lock());
  TRY(know(owned));
  const std::string hint = hint_for({&owned.session, 1});
  const Result<> removed = change(remove_session, [&](const PgTurn& turn) {
    return params_of(turn).id(owned.session.ulid()).number(owned.epoch).text(hint);
  });
  known_.erase(owned.session);
  if (removed && search_) search_->forget(owned.session);
  return removed;
}

Result<> PgWriter::redact(const OwnedSession& owned, const Redaction& redaction) {
  const auto held = TRY(lock());
  const Known known = TRY(know(owned));
  if (redaction.seq == 0 || redaction.seq > known.head.value_or(0)) {
    return fail(Code::not_found, "no such record: " + std::to_string(redaction.seq));
  }
  PgArray blobs(PgType::bytes);
  for (const Hash& hash : redaction.blobs) blobs.add(hash);
  const std::int64_t crc =
      record_crc({.session = redaction.session, .seq = redaction.seq}, redaction.replacement);
  const std::string hint =
      has_others_ ? pg_redaction_hint(life_.epoch, owned.session) : std::string();
  const Result<> redacted = change(redact_record, [&](const PgTurn& turn) {
    return params_of(turn)
        .id(owned.session.ulid())
        .number(owned.epoch)
        .text(hint)
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
  bool has_more = false;
  {
    const std::unique_lock lock(write_mutex_, std::try_to_lock);
    if (!lock.owns_lock() || unresolved_) return false;
    if (!is_fenced_ && (!link_ || !link_->looks_alive())) {
      if (link_) lose_link();
      if (Clock::now() >= next_try_) (void)relink();
    }
    if (!is_fenced_ && link_ && commits_.is_full()) commits_.probe_space();
    has_more = !is_fenced_ && link_ && beat() && search_slice();
  }
  // Another thread may have been refused for that reason.
  tell_fenced();
  return has_more;
}

// Whether the connection still works and this life is the node's newest.
bool PgWriter::beat() {
  if (has_left_ || Clock::now() < next_beat_) return true;
  next_beat_ = Clock::now() + options_.lease / beats_per_lease;
  PgParams params;
  params.text(options_.node).number(life_.epoch).number(std::int64_t{options_.lease.count()});
  const PgResult<PgRows> done = link_->run(heartbeat, params);
  if (!done && done.error().trouble == PgTrouble::lost) lose_link();
  if (!done) return false;
  if (done->is_empty()) is_fenced_ = true;
  has_others_ = !done->is_empty() && done->flag({});
  return !is_fenced_;
}

std::string PgWriter::hint_for(std::span<const SessionId> sessions) const {
  return has_others_ ? pg_hint(life_.epoch, sessions) : std::string();
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
  has_left_ = true;
  if (!done) return std::unexpected(done.error().error());
  return {};
}

}  // namespace perdure
