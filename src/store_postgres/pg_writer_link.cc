// The writer's connection: how it is lost and found again, and what is read over it.
#include <algorithm>
#include <thread>

#include "store_postgres/pg_writer.h"

namespace perdure {
namespace {

// Waits for a commit of the connection before, if it is still under way on the server; what comes
// of that connection later finds another number here and is refused.
constexpr PgStatement take_link{
    "take_link",
    "UPDATE perdure.lives SET link = link + 1 WHERE epoch = $1 AND link >= 0 "
    "RETURNING link, groups"};
constexpr PgStatement last_group{"last_group", "SELECT groups FROM perdure.lives WHERE epoch = $1"};

// A lease is free when there is none, when it is this node's, and when it has run out and its node
// was not heard of either.
constexpr PgStatement take_leases{"take_leases", R"(
WITH life AS MATERIALIZED (
  SELECT 1 FROM perdure.lives WHERE epoch = $2 AND link = $3 AND node = $1 FOR SHARE),
taken AS (
  INSERT INTO perdure.leases AS l (session, node, epoch, expires)
  SELECT u.id, $1, $2, now() + $5 * interval '1 millisecond'
  FROM unnest($4::uuid[]) AS u(id), life
  ON CONFLICT(session) DO UPDATE
  SET node = excluded.node, epoch = excluded.epoch, expires = excluded.expires
  WHERE l.node = $1 OR (l.expires < now() AND NOT EXISTS (
    SELECT 1 FROM perdure.nodes n
    WHERE n.name = l.node AND n.heartbeat > now() - $5 * interval '1 millisecond'))
  RETURNING session)
SELECT t.session, s.head, s.good FROM life LEFT JOIN taken t ON true
LEFT JOIN perdure.sessions s ON s.id = t.session
)"};

constexpr PgStatement taken_keys{"taken_keys",
                                 "SELECT key FROM perdure.answers WHERE key = ANY($1::bytea[])"};

}  // namespace

void PgWriter::lose_link() {
  link_.reset();
  is_away_ = true;
  if (away_since_) return;
  away_since_ = Clock::now();
  retry_ = options_.retry_first;
  next_try_ = *away_since_;
}

Result<> PgWriter::be_linked() {
  // What is sent into a connection that is known to be gone would be unknown for no reason.
  if (link_ && link_->looks_alive()) return {};
  link_.reset();
  if (!away_since_) lose_link();
  if (Clock::now() - *away_since_ >= options_.patience && Clock::now() < next_try_) {
    return fail(Code::unavailable, "the database server cannot be reached; nothing was recorded");
  }
  while (true) {
    const Result<> linked = relink();
    if (linked || is_fenced_) return linked;
    if (Clock::now() - *away_since_ >= options_.patience) return linked;
    std::this_thread::sleep_until(next_try_);
  }
}

Result<> PgWriter::relink() {
  const Result<> opened = open_link();
  if (opened) {
    away_since_.reset();
    is_away_ = false;
    return {};
  }
  if (is_fenced_) return opened;
  lose_link();
  next_try_ = Clock::now() + retry_;
  retry_ = std::min(2 * retry_, options_.retry_max);
  return fail(Code::unavailable, opened.error().message());
}

Result<> PgWriter::open_link() {
  link_.reset();
  std::unique_ptr<PgLink> link = TRY(PgLink::open(options_.place, options_.write_times));
  const PgResult<PgRows> taken = link->run(take_link, PgParams().number(life_.epoch));
  if (!taken) return std::unexpected(taken.error().error());
  if (!taken->is_empty()) {
    link_number_ = taken->u64({.row = 0, .column = 0});
    is_last_there_ = taken->u64({.row = 0, .column = 1}) == groups_;
    link_ = std::move(link);
    return {};
  }
  const PgResult<PgRows> last = link->run(last_group, PgParams().number(life_.epoch));
  if (!last) return std::unexpected(last.error().error());
  if (last->is_empty()) {
    return fail(Code::storage_unknown, "the database does not know this instance any more");
  }
  is_last_there_ = last->u64({}) == groups_;
  is_fenced_ = true;
  return std::unexpected(fenced());
}

PgResult<PgRows> PgWriter::load(const std::vector<SessionId>& sessions) {
  PgArray ids(PgType::uuid);
  for (const SessionId session : sessions) ids.add(session.ulid());
  PgParams params;
  params.text(options_.node).number(life_.epoch).number(link_number_).array(ids);
  params.number(std::int64_t{options_.silence.count()});
  PgResult<PgRows> rows = link_->run(take_leases, params);
  if (!rows) return rows;
  if (rows->is_empty()) is_fenced_ = true;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    if (rows->is_null({.row = row, .column = 0})) continue;
    Known& known = known_[SessionId(rows->id({.row = row, .column = 0}))];
    known = {};
    if (!rows->is_null({.row = row, .column = 1}))
      known.head = rows->u64({.row = row, .column = 1});
    if (!rows->is_null({.row = row, .column = 2}))
      known.good = rows->u64({.row = row, .column = 2});
  }
  return rows;
}

PgResult<PgRows> PgWriter::load_keys(const std::vector<std::string>& keys, Keys& taken) {
  PgArray asked(PgType::bytes);
  for (const std::string& key : keys) asked.add(key);
  PgResult<PgRows> rows = link_->run(taken_keys, PgParams().array(asked));
  for (std::size_t row = 0; rows && row < rows->size(); ++row) {
    taken.emplace(rows->bytes({.row = row, .column = 0}));
  }
  return rows;
}

}  // namespace perdure
