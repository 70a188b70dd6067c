// The writer's connection: how it is lost and restored, and what is read over it.
#include <algorithm>
#include <thread>

#include "store/postgres/pg_writer.h"

namespace perdure {
namespace {

// Waits for a commit of the previous connection that is still in progress on the server. Anything
// later from that connection finds a different number here and is refused.
constexpr PgStatement take_link{
    "take_link",
    "UPDATE perdure.lives SET link = link + 1 WHERE epoch = $1 AND link >= 0 "
    "RETURNING link, groups"};
constexpr PgStatement last_group{"last_group", "SELECT groups FROM perdure.lives WHERE epoch = $1"};

// $4 sessions to take if free or held by an earlier life of this node; $5 sessions to read.
constexpr PgStatement load_sessions{"load_sessions", R"(
WITH life AS MATERIALIZED (
  SELECT 1 FROM perdure.lives WHERE epoch = $2 AND link = $3 AND node = $1 FOR SHARE),
taken AS (
  INSERT INTO perdure.leases AS l (session, node, epoch)
  SELECT u.id, $1, $2 FROM unnest($4::uuid[]) AS u(id), life
  ON CONFLICT(session) DO UPDATE SET epoch = excluded.epoch, offered = NULL
  WHERE l.node = $1 AND l.epoch < $2
  RETURNING session, epoch)
SELECT w.id, coalesce(t.epoch, l.epoch), s.head, s.good
FROM life CROSS JOIN unnest($5::uuid[]) AS w(id)
LEFT JOIN taken t ON t.session = w.id
LEFT JOIN perdure.leases l ON l.session = w.id AND l.node = $1 AND l.epoch >= $2
LEFT JOIN perdure.sessions s ON s.id = w.id
)"};

constexpr PgStatement taken_keys{"taken_keys",
                                 "SELECT key FROM perdure.answers WHERE key = ANY($1::bytea[])"};
constexpr PgStatement kept_blobs{"kept_blobs",
                                 "SELECT hash FROM perdure.blobs WHERE hash = ANY($1::bytea[])"};

void take_column(const PgRows& rows, std::set<std::string, std::less<>>& out) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    out.emplace(rows.bytes({.row = row, .column = 0}));
  }
}

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
  // A statement sent into a connection known to be lost would be unknown for no reason.
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
    return fail(Code::storage_unknown, "the database no longer knows this instance");
  }
  is_last_there_ = last->u64({}) == groups_;
  is_fenced_ = true;
  return std::unexpected(fenced());
}

PgResult<PgRows> PgWriter::load(const Load& wanted) {
  PgArray take(PgType::uuid), ids(PgType::uuid);
  for (const SessionId session : wanted.take) take.add(session.ulid());
  for (const SessionId session : wanted.sessions) ids.add(session.ulid());
  PgParams params;
  params.text(options_.node).number(life_.epoch).number(link_number_).array(take).array(ids);
  PgResult<PgRows> rows = link_->run(load_sessions, params);
  if (!rows) return rows;
  if (rows->is_empty()) is_fenced_ = true;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    const auto number = [&](int column) -> std::optional<std::uint64_t> {
      const PgRows::At at{.row = row, .column = column};
      if (rows->is_null(at)) return std::nullopt;
      return rows->u64(at);
    };
    known_[SessionId(rows->id({.row = row, .column = 0}))] = {
        .lease = number(1).value_or(0), .head = number(2), .good = number(3)};
  }
  return rows;
}

PgResult<PgRows> PgWriter::load_keys(const std::vector<std::string>& keys, Keys& taken) {
  PgArray asked(PgType::bytes);
  for (const std::string& key : keys) asked.add(key);
  PgResult<PgRows> rows = link_->run(taken_keys, PgParams().array(asked));
  if (rows) take_column(*rows, taken);
  return rows;
}

PgResult<PgRows> PgWriter::load_hashes(const std::set<Hash>& hashes, Keys& there) {
  PgArray asked(PgType::bytes);
  for (const Hash& hash : hashes) asked.add(hash);
  PgResult<PgRows> rows = link_->run(kept_blobs, PgParams().array(asked));
  if (rows) take_column(*rows, there);
  return rows;
}

}  // namespace perdure
