#include "store/postgres/pg_schema.h"

#include <array>

namespace perdure {
namespace {

// All bytes are bytea: records, keys and words need not be text in any encoding.
constexpr const char* migration_1 = R"(
CREATE SCHEMA perdure;
CREATE TABLE perdure.meta(name text PRIMARY KEY, value text NOT NULL);
CREATE SEQUENCE perdure.epochs;
CREATE SEQUENCE perdure.positions;

CREATE TABLE perdure.nodes(
  name text PRIMARY KEY,
  instance text NOT NULL,
  epoch bigint NOT NULL,
  heartbeat timestamptz NOT NULL);

CREATE TABLE perdure.lives(
  epoch bigint PRIMARY KEY,
  node text NOT NULL,
  link bigint NOT NULL,
  groups bigint NOT NULL) WITH (fillfactor = 20);

CREATE TABLE perdure.leases(
  session uuid PRIMARY KEY,
  node text NOT NULL,
  epoch bigint NOT NULL,
  expires timestamptz NOT NULL);
CREATE INDEX leases_node ON perdure.leases(node);

CREATE TABLE perdure.sessions(
  id uuid PRIMARY KEY,
  head bigint NOT NULL,
  good bigint,
  searched bigint NOT NULL DEFAULT 0,
  cursor_exec uuid,
  cursor_frame bigint,
  open boolean NOT NULL DEFAULT false,
  archived boolean NOT NULL DEFAULT false,
  updated bigint NOT NULL DEFAULT 0,
  summary bytea NOT NULL DEFAULT '') WITH (fillfactor = 60);
CREATE INDEX sessions_open ON perdure.sessions(id) WHERE open;

CREATE TABLE perdure.records(
  session uuid NOT NULL,
  seq bigint NOT NULL,
  pos bigint NOT NULL,
  crc bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY(session, seq));

CREATE TABLE perdure.outbox(
  session uuid NOT NULL,
  number bigint NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY(session, number));

CREATE TABLE perdure.answers(
  key bytea PRIMARY KEY,
  body bytea NOT NULL,
  answer bytea NOT NULL,
  expires bigint);
CREATE INDEX answers_expires ON perdure.answers(expires) WHERE expires IS NOT NULL;

CREATE TABLE perdure.refs(ref bytea PRIMARY KEY, session uuid NOT NULL);
CREATE INDEX refs_session ON perdure.refs(session);

CREATE TABLE perdure.snapshots(session uuid PRIMARY KEY, seq bigint NOT NULL, bytes bytea NOT NULL);

CREATE TABLE perdure.blobs(hash bytea PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE perdure.blob_owners(
  session uuid NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY(session, hash));
CREATE INDEX blob_owners_hash ON perdure.blob_owners(hash);

CREATE TABLE perdure.texts(
  session uuid NOT NULL,
  first bigint NOT NULL,
  seq bigint NOT NULL,
  last bigint NOT NULL,
  pos bigint NOT NULL,
  kind text NOT NULL,
  at bigint NOT NULL,
  key bytea NOT NULL,
  name bytea NOT NULL,
  is_stream boolean NOT NULL,
  is_open boolean NOT NULL,
  part0 bytea NOT NULL,
  part1 bytea NOT NULL,
  part2 bytea NOT NULL,
  words bytea[] NOT NULL,
  PRIMARY KEY(session, first));
CREATE INDEX texts_open ON perdure.texts(session) WHERE is_open;
CREATE INDEX texts_words ON perdure.texts USING gin(words);

CREATE FUNCTION perdure.must(life bigint, held bigint, moved bigint, wanted bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF life <> 1 THEN
    RAISE EXCEPTION 'another instance of this node has taken over' USING ERRCODE = 'PD001';
  END IF;
  IF held <> wanted THEN
    RAISE EXCEPTION 'a lease is another node''s' USING ERRCODE = 'PD002';
  END IF;
  IF moved <> wanted THEN
    RAISE EXCEPTION 'a session has another head' USING ERRCODE = 'PD003';
  END IF;
  RETURN true;
END $$;
)";

// Several nodes. Every step of a function sees everything committed before it began: a transaction
// that adds an owner to a blob holds the blob's row until its commit, so that owner is seen.
constexpr const char* migration_2 = R"(
ALTER TABLE perdure.nodes ADD home text NOT NULL DEFAULT '', ADD address text NOT NULL DEFAULT '';
ALTER TABLE perdure.leases DROP expires, ADD offered text;

CREATE FUNCTION perdure.remove_session(node_ text, life_ bigint, link_ bigint, group_ bigint,
  session_ uuid, lease_ bigint, hint_ text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  owned bytea[];
BEGIN
  UPDATE perdure.lives SET groups = group_ WHERE epoch = life_ AND link = link_ AND node = node_;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another instance of this node has taken over' USING ERRCODE = 'PD001';
  END IF;
  DELETE FROM perdure.leases WHERE session = session_ AND node = node_ AND epoch = lease_;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'a lease is another node''s' USING ERRCODE = 'PD002';
  END IF;
  DELETE FROM perdure.sessions WHERE id = session_;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no such session' USING ERRCODE = 'PD003';
  END IF;
  DELETE FROM perdure.records WHERE session = session_;
  DELETE FROM perdure.outbox WHERE session = session_;
  DELETE FROM perdure.refs WHERE session = session_;
  DELETE FROM perdure.snapshots WHERE session = session_;
  DELETE FROM perdure.texts WHERE session = session_;
  WITH gone AS (DELETE FROM perdure.blob_owners WHERE session = session_ RETURNING hash)
  SELECT coalesce(array_agg(hash), '{}') INTO owned FROM gone;
  PERFORM 1 FROM perdure.blobs WHERE hash = ANY(owned) ORDER BY hash FOR UPDATE;
  DELETE FROM perdure.blobs b WHERE b.hash = ANY(owned)
    AND NOT EXISTS (SELECT 1 FROM perdure.blob_owners x WHERE x.hash = b.hash);
  IF hint_ <> '' THEN
    PERFORM pg_notify('perdure', hint_);
  END IF;
END $$;

CREATE FUNCTION perdure.drop_blobs(dropped bytea[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM perdure.blobs WHERE hash = ANY(dropped) ORDER BY hash FOR UPDATE;
  DELETE FROM perdure.blobs WHERE hash = ANY(dropped);
  DELETE FROM perdure.blob_owners WHERE hash = ANY(dropped);
END $$;
)";

constexpr std::array migrations{migration_1, migration_2};
// The first version that supports several nodes at once.
constexpr std::uint64_t shared_version = 2;

// An arbitrary, unusual number: the lock is held while migrating and beginning.
constexpr const char* take_lock = "SELECT pg_advisory_xact_lock(7021833190046)::text";

template <class T>
Result<T> known(PgResult<T> result) {
  if (!result) return std::unexpected(result.error().error());
  return *std::move(result);
}

Result<std::uint64_t> version_of(PgLink& link) {
  if (!TRY(has_store(link))) return 0;
  const PgRows rows = TRY(known(
      link.run({"version", "SELECT value::bigint FROM perdure.meta WHERE name = 'version'"}, {})));
  if (rows.is_empty()) {
    return fail(Code::invalid_argument, "the schema 'perdure' is not one of this program");
  }
  return rows.u64({});
}

// conflict if another node is alive.
Result<> be_alone(PgLink& link, const PgBegin& begin) {
  const PgRows rows =
      TRY(known(link.run({"others",
                          "SELECT name FROM perdure.nodes WHERE name <> $1 "
                          "AND heartbeat > now() - $2 * interval '1 millisecond' LIMIT 1"},
                         PgParams().text(begin.node).number(begin.lease_ms))));
  if (rows.is_empty()) return {};
  return fail(Code::conflict, "the node '" + std::string(rows.bytes({})) +
                                  "' uses this database; end it first, or wait some seconds if it "
                                  "is gone");
}

Result<> migrate(PgLink& link, const PgBegin& begin) {
  const std::uint64_t version = TRY(version_of(link));
  if (version > migrations.size()) {
    return fail(Code::format_too_new, "the database has version " + std::to_string(version) +
                                          " of the schema; this program knows " +
                                          std::to_string(migrations.size()));
  }
  if (version == 0 && begin.missing == PgBegin::Missing::refuse) {
    return fail(Code::not_found, "no store is in that database");
  }
  // A daemon of an older version would claim the sessions of all others.
  const bool is_old = version > 0 && version < shared_version;
  if (is_old || (version > 0 && begin.others == PgBegin::Others::refuse)) {
    TRY_VOID(be_alone(link, begin));
  }
  for (std::uint64_t next = version; next < migrations.size(); ++next) {
    TRY(known(link.script(migrations[next])));
  }
  TRY(known(link.run({"set_version",
                      "INSERT INTO perdure.meta(name, value) VALUES('version', $1::bigint::text) "
                      "ON CONFLICT(name) DO UPDATE SET value = excluded.value"},
                     PgParams().number(std::uint64_t{migrations.size()}))));
  return {};
}

// A dump restored into another database is a different log, although its rows are the same.
Result<std::string> open_log(PgLink& link, const std::string& new_log_id) {
  const PgRows rows = TRY(known(
      link.run({"open_log",
                "WITH here AS (SELECT system_identifier::text || '/' || d.oid::text AS place "
                "FROM pg_control_system(), pg_database d WHERE d.datname = current_database()), "
                "same AS (SELECT l.value FROM perdure.meta l, perdure.meta p, here "
                "WHERE l.name = 'log_id' AND p.name = 'place' AND p.value = here.place), "
                "put AS (INSERT INTO perdure.meta(name, value) "
                "SELECT 'log_id', coalesce((SELECT value FROM same), $1) "
                "UNION ALL SELECT 'place', place FROM here "
                "ON CONFLICT(name) DO UPDATE SET value = excluded.value RETURNING name, value) "
                "SELECT value FROM put WHERE name = 'log_id'"},
               PgParams().text(new_log_id))));
  return std::string(rows.bytes({}));
}

// Created once: all daemons can verify what one of them signed with it.
Result<std::string> keep_shared_key(PgLink& link, const std::string& new_key) {
  if (!new_key.empty()) {
    TRY(known(link.run({"make_key",
                        "INSERT INTO perdure.meta(name, value) VALUES('shared_key', $1) "
                        "ON CONFLICT(name) DO NOTHING"},
                       PgParams().text(new_key))));
  }
  const PgRows rows = TRY(known(
      link.run({"read_key", "SELECT value FROM perdure.meta WHERE name = 'shared_key'"}, {})));
  return rows.is_empty() ? std::string() : std::string(rows.bytes({}));
}

Result<std::uint64_t> raise_epoch(PgLink& link, const PgBegin& begin) {
  // Waits for a lease that the previous life is taking, so that it gets a lower epoch.
  TRY(known(
      link.run({"hold_node", "SELECT 1::bigint FROM perdure.nodes WHERE name = $1 FOR UPDATE"},
               PgParams().text(begin.node))));
  // Waits for a commit of the previous life in progress; after this, that life can commit nothing.
  TRY(known(link.run({"shut_out", "UPDATE perdure.lives SET link = -1 WHERE node = $1"},
                     PgParams().text(begin.node))));
  if (begin.epoch_min > 0) {
    TRY(known(link.run({"skip_epochs",
                        "SELECT setval('perdure.epochs', $1) FROM perdure.epochs "
                        "WHERE last_value < $1"},
                       PgParams().number(begin.epoch_min))));
  }
  const PgRows rows = TRY(known(
      link.run({"raise_epoch",
                "WITH n AS (INSERT INTO perdure.nodes(name, instance, epoch, heartbeat, home) "
                "VALUES($1, $2, nextval('perdure.epochs'), now(), $3) ON CONFLICT(name) DO UPDATE "
                "SET instance = excluded.instance, epoch = excluded.epoch, heartbeat = now(), "
                "home = excluded.home, address = '' RETURNING epoch), "
                "l AS (INSERT INTO perdure.lives(epoch, node, link, groups) "
                "SELECT epoch, $1, 0, 0 FROM n) SELECT epoch FROM n"},
               PgParams().text(begin.node).text(begin.instance).text(begin.home))));
  TRY(known(link.run({"forget_lives",
                      "DELETE FROM perdure.lives WHERE node = $1 AND epoch NOT IN (SELECT epoch "
                      "FROM perdure.lives WHERE node = $1 ORDER BY epoch DESC LIMIT 100)"},
                     PgParams().text(begin.node))));
  return rows.u64({});
}

// A daemon that died between the lease of a new session and its first record left a useless lease.
// If it only slept, it takes the lease again. Commits in progress are not affected.
Result<> sweep_leases(PgLink& link, const PgBegin& begin) {
  TRY(known(link.run({"sweep_leases", R"(
DELETE FROM perdure.leases WHERE session IN (
  SELECT l.session FROM perdure.leases l LEFT JOIN perdure.nodes n ON n.name = l.node
  WHERE NOT EXISTS (SELECT 1 FROM perdure.sessions s WHERE s.id = l.session)
    AND (l.node = $1 OR n.heartbeat IS NULL
      OR n.heartbeat < now() - $2 * interval '1 millisecond')
  FOR UPDATE OF l SKIP LOCKED)
)"},
                     PgParams().text(begin.node).number(begin.lease_ms))));
  return {};
}

}  // namespace

Result<bool> has_store(PgLink& link) {
  const PgRows rows =
      TRY(known(link.run({"has_store", "SELECT to_regclass('perdure.meta') IS NOT NULL"}, {})));
  return rows.flag({});
}

Result<PgLife> begin_life(PgLink& link, const PgBegin& begin) {
  const auto body = [&]() -> Result<PgLife> {
    TRY(known(link.script("BEGIN")));
    TRY(known(link.run({"take_lock", take_lock}, {})));
    TRY_VOID(migrate(link, begin));
    PgLife life{.log_id = TRY(open_log(link, begin.new_log_id))};
    life.shared_key = TRY(keep_shared_key(link, begin.new_shared_key));
    life.epoch = TRY(raise_epoch(link, begin));
    TRY_VOID(sweep_leases(link, begin));
    // Notifies running nodes that they are not alone.
    TRY(known(link.run({"hello", "SELECT pg_notify($1, $2::bigint::text || ':')"},
                       PgParams().text(pg_channel).number(life.epoch))));
    TRY(known(link.script("COMMIT")));
    return life;
  };
  Result<PgLife> life = body();
  if (!life && !link.is_lost()) (void)link.script("ROLLBACK");
  return life;
}

}  // namespace perdure
