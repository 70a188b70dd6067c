#include "store/postgres/pg_leases.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace perdure {
namespace {

constexpr int tries_max = 3;

// $1 node, $2 epoch of its life, $3 session, $4 home, $5 lease in ms. If we or another live node
// hold the lease, it is only read: a lock on it would wait for its owner's commit. Otherwise the
// row is locked, which waits for that commit, and checked again. The lock on the node's row blocks
// a next life of the node, but not its heartbeat.
constexpr PgStatement own_session{"own_session", R"(
WITH self AS MATERIALIZED (
  SELECT 1 FROM perdure.nodes WHERE name = $1 AND epoch = $2 FOR KEY SHARE),
seen AS MATERIALIZED (
  SELECT l.node, l.epoch, l.node = $1 AND l.epoch >= $2 AS is_held,
    l.node = $1 OR coalesce(l.offered = $4, false) OR n.heartbeat IS NULL
      OR n.heartbeat < now() - $5 * interval '1 millisecond' AS is_free
  FROM perdure.leases l LEFT JOIN perdure.nodes n ON n.name = l.node WHERE l.session = $3),
taken AS (
  INSERT INTO perdure.leases AS l (session, node, epoch)
  SELECT $3, $1, $2 FROM self WHERE NOT EXISTS (SELECT 1 FROM seen WHERE is_held OR NOT is_free)
  ON CONFLICT(session) DO UPDATE SET node = $1, offered = NULL, epoch =
    CASE WHEN l.node = $1 THEN greatest(l.epoch, $2) ELSE nextval('perdure.epochs') END
  WHERE l.node = $1 OR l.offered = $4 OR NOT EXISTS (
    SELECT 1 FROM perdure.nodes n
    WHERE n.name = l.node AND n.heartbeat >= now() - $5 * interval '1 millisecond')
  RETURNING epoch)
SELECT EXISTS (SELECT 1 FROM perdure.nodes WHERE name = $1 AND epoch = $2),
  (SELECT epoch FROM taken), seen.epoch, seen.is_held, seen.is_free, seen.node
FROM (SELECT 1) one LEFT JOIN seen ON true
)"};

// $1 node, $2 home, $3 lease in ms, $4 limit, $5 whether to include this node's own.
constexpr PgStatement takeable{"takeable", R"(
SELECT s.id FROM perdure.sessions s
LEFT JOIN perdure.leases l ON l.session = s.id
LEFT JOIN perdure.nodes n ON n.name = l.node
WHERE s.open AND (l.session IS NULL OR (l.node = $1 AND $5 <> 0)
  OR (l.node <> $1 AND (l.offered = $2 OR n.heartbeat IS NULL
    OR n.heartbeat < now() - $3 * interval '1 millisecond')))
ORDER BY s.id LIMIT $4
)"};

constexpr PgStatement not_held{"not_held", R"(
SELECT w.id FROM unnest($2::uuid[], $3::bigint[]) AS w(id, epoch) WHERE NOT EXISTS (
  SELECT 1 FROM perdure.leases l WHERE l.session = w.id AND l.node = $1 AND l.epoch = w.epoch)
)"};

constexpr PgStatement offer_session{"offer_session",
                                    "UPDATE perdure.leases SET offered = nullif($4, '') "
                                    "WHERE session = $2 AND node = $1 AND epoch = $3"};

constexpr PgStatement read_nodes{"read_nodes", R"(
SELECT name, home, address, name = $1, heartbeat < now() - $2 * interval '1 millisecond',
  CASE WHEN isfinite(heartbeat)
    THEN greatest(0, extract(epoch FROM now() - heartbeat) * 1000)::bigint ELSE -1 END
FROM perdure.nodes ORDER BY heartbeat DESC, name LIMIT 1000
)"};

// $1 node, $2 lease in ms, $3 sessions.
constexpr PgStatement read_owners{"read_owners", R"(
SELECT l.session, l.node FROM perdure.leases l JOIN perdure.nodes n ON n.name = l.node
WHERE l.session = ANY($3::uuid[]) AND l.node <> $1
  AND n.heartbeat >= now() - $2 * interval '1 millisecond'
)"};

constexpr PgStatement announce_node{
    "announce_node",
    "UPDATE perdure.nodes SET address = $3 WHERE name = $1 AND epoch = $2 RETURNING 1::bigint"};

std::vector<SessionId> ids_of(const PgRows& rows) {
  std::vector<SessionId> out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    out.emplace_back(rows.id({.row = row, .column = 0}));
  }
  return out;
}

// Absent if another node was faster, so that the caller must look again.
std::optional<Lease> lease_of(const PgRows& rows) {
  const auto at = [](int column) { return PgRows::At{.row = 0, .column = column}; };
  if (!rows.is_null(at(1))) return Lease{.epoch = rows.u64(at(1))};
  if (rows.is_null(at(2))) return std::nullopt;
  if (rows.flag(at(3))) return Lease{.epoch = rows.u64(at(2))};
  if (rows.flag(at(4))) return std::nullopt;
  return Lease{.epoch = 0, .node = std::string(rows.bytes(at(5)))};
}

}  // namespace

Error PgLeases::replaced() const {
  return {Code::stale_owner, "another instance of the node '" + setting_.node + "' has taken over"};
}

Result<Lease> PgLeases::own(SessionId session) {
  PgParams params;
  params.text(setting_.node).number(setting_.epoch).id(session.ulid());
  params.text(setting_.home).number(setting_.lease_ms);
  for (int tries = 0; tries < tries_max; ++tries) {
    const PgRows rows = TRY(readers_.run(own_session, params));
    if (!rows.flag({})) return std::unexpected(replaced());
    if (std::optional<Lease> lease = lease_of(rows)) return *std::move(lease);
  }
  return fail(Code::unavailable, session.text() + " is being taken by others");
}

Result<std::vector<SessionId>> PgLeases::open_sessions() {
  PgParams params;
  params.text(setting_.node).text(setting_.home).number(setting_.lease_ms);
  params.number(std::numeric_limits<std::int64_t>::max()).number(std::int64_t{1});
  return ids_of(TRY(readers_.run(takeable, params)));
}

Result<std::vector<SessionId>> PgLeases::orphans(std::size_t limit) {
  PgParams params;
  params.text(setting_.node).text(setting_.home).number(setting_.lease_ms);
  params.number(static_cast<std::int64_t>(std::min<std::size_t>(limit, 1UL << 32)));
  params.number(std::int64_t{0});
  return ids_of(TRY(readers_.run(takeable, params)));
}

Result<std::vector<SessionId>> PgLeases::lost(std::span<const OwnedSession> owned) {
  if (owned.empty()) return std::vector<SessionId>{};
  PgArray ids(PgType::uuid), epochs(PgType::int8);
  for (const OwnedSession& one : owned) {
    ids.add(one.session.ulid());
    epochs.add(one.epoch);
  }
  PgParams params;
  params.text(setting_.node).array(ids).array(epochs);
  return ids_of(TRY(readers_.run(not_held, params)));
}

Result<> PgLeases::offer(const OwnedSession& owned, const std::string& home) {
  PgParams params;
  params.text(setting_.node).id(owned.session.ulid()).number(owned.epoch).text(home);
  TRY(readers_.run(offer_session, params));
  return {};
}

Result<std::vector<StoreNode>> PgLeases::nodes() {
  const PgRows rows =
      TRY(readers_.run(read_nodes, PgParams().text(setting_.node).number(setting_.lease_ms)));
  std::vector<StoreNode> out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto at = [&](int column) { return PgRows::At{.row = row, .column = column}; };
    out.push_back({.name = std::string(rows.bytes(at(0))),
                   .home = std::string(rows.bytes(at(1))),
                   .address = std::string(rows.bytes(at(2))),
                   .heard_ms = rows.number(at(5)),
                   .is_silent = rows.flag(at(4)),
                   .is_self = rows.flag(at(3))});
  }
  return out;
}

Result<std::map<SessionId, std::string>> PgLeases::owners(std::span<const SessionId> sessions) {
  std::map<SessionId, std::string> out;
  if (sessions.empty()) return out;
  PgArray ids(PgType::uuid);
  for (const SessionId session : sessions) ids.add(session.ulid());
  const PgRows rows = TRY(readers_.run(
      read_owners, PgParams().text(setting_.node).number(setting_.lease_ms).array(ids)));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    out.emplace(rows.id({.row = row, .column = 0}), rows.bytes({.row = row, .column = 1}));
  }
  return out;
}

Result<> PgLeases::announce(const std::string& address) {
  PgParams params;
  params.text(setting_.node).number(setting_.epoch).text(address);
  const PgRows rows = TRY(readers_.run(announce_node, params));
  if (rows.is_empty()) return std::unexpected(replaced());
  return {};
}

}  // namespace perdure
