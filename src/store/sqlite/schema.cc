#include "store/sqlite/schema.h"

#include "store/sqlite/index/block.h"

namespace perdure {
namespace {

// log: group commits, cut into rows; the only table that every commit writes to. sessions: ids and
// listings; `sealed` covers the row. doomed: removed sessions whose records are still to be erased
// from the log.
constexpr const char* tables = R"(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE log(pos INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE sessions(
  sid INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE,
  open INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0,
  updated INTEGER NOT NULL DEFAULT 0, sealed BLOB);
CREATE INDEX sessions_open ON sessions(id) WHERE open = 1;
CREATE TABLE outbox(sid INTEGER, number INTEGER, sealed BLOB NOT NULL,
  PRIMARY KEY(sid, number)) WITHOUT ROWID;
CREATE TABLE answers(key TEXT PRIMARY KEY, expires INTEGER, sealed BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX answers_expires ON answers(expires) WHERE expires IS NOT NULL;
CREATE TABLE refs(ref TEXT PRIMARY KEY, sid INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX refs_sid ON refs(sid);
CREATE TABLE snapshots(sid INTEGER PRIMARY KEY, seq INTEGER NOT NULL, sealed BLOB NOT NULL);
CREATE TABLE blobs(number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL);
CREATE TABLE blob_owners(sid INTEGER, hash BLOB, PRIMARY KEY(sid, hash)) WITHOUT ROWID;
CREATE INDEX blob_owners_hash ON blob_owners(hash);
CREATE TABLE doomed(sid INTEGER PRIMARY KEY);
)";

// redactions: replacements of records whose bytes in the log were overwritten with zeros. Created
// by the first redaction: most files never need it.
constexpr const char* redactions_table =
    "CREATE TABLE IF NOT EXISTS redactions(sid INTEGER, seq INTEGER, sealed BLOB NOT NULL, "
    "PRIMARY KEY(sid, seq)) WITHOUT ROWID";

}  // namespace

Result<FileState> identify(Db& db) {
  const std::int64_t table_count = TRY(db.query_int("SELECT count(*) FROM sqlite_master"));
  const std::int64_t application = TRY(db.query_int("PRAGMA application_id"));
  const std::int64_t version = TRY(db.query_int("PRAGMA user_version"));
  if (table_count == 0 && application == 0 && version == 0) return FileState::fresh;
  if (application != application_id) {
    return fail(Code::invalid_argument,
                "this SQLite file was not made by Perdure; it is left as it is");
  }
  if (version > format_version) {
    return fail(Code::format_too_new, "the journal has format " + std::to_string(version) +
                                          ", this Perdure knows up to " +
                                          std::to_string(format_version) + "; use a newer one");
  }
  if (version < 1) return fail(Code::damaged, "the journal has no format number");
  return FileState::ours;
}

Result<> configure_writer(Db& db, std::uint64_t wal_bytes_max) {
  if (sqlite3_db_readonly(db.handle(), "main") != 0) {
    return fail(Code::unavailable, "the journal's file cannot be written to (read-only)");
  }
  TRY_VOID(db.exec("PRAGMA page_size = " + std::to_string(page_bytes)));
  TRY_VOID(db.exec("PRAGMA auto_vacuum = NONE"));
  TRY_VOID(db.exec("PRAGMA journal_mode = WAL"));
  TRY_VOID(db.exec("PRAGMA synchronous = FULL"));
  TRY_VOID(db.exec("PRAGMA secure_delete = ON"));
  TRY_VOID(db.exec("PRAGMA wal_autocheckpoint = 0"));
  TRY_VOID(db.exec("PRAGMA cache_size = -16384"));
  TRY_VOID(db.exec("PRAGMA temp_store = MEMORY"));
  TRY_VOID(db.exec("PRAGMA journal_size_limit = " + std::to_string(2 * wal_bytes_max)));
  return {};
}

Result<> add_redactions(Db& db) { return db.exec(redactions_table); }

Result<bool> has_redactions(Db& db) {
  Statement has = TRY(db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'redactions'"));
  Query query(has);
  return query->step();
}

Result<> create_schema(Db& db, std::string_view log_id) {
  TRY_VOID(db.exec("BEGIN IMMEDIATE"));
  TRY_VOID(db.exec(tables));
  TRY_VOID(db.exec(heads_table_sql));
  TRY_VOID(db.exec(extents_table_sql));
  TRY_VOID(db.exec(search_table_sql));
  TRY_VOID(set_meta(db, meta::log_id, log_id));
  TRY_VOID(set_meta(db, meta::indexed, 1));
  TRY_VOID(set_meta(db, meta::searched, 1));
  TRY_VOID(db.exec("PRAGMA application_id = " + std::to_string(application_id)));
  TRY_VOID(db.exec("PRAGMA user_version = " + std::to_string(format_version)));
  return db.exec("COMMIT");
}

Result<std::int64_t> meta_int(Db& db, std::string_view name) {
  Statement select = TRY(db.prepare("SELECT value FROM meta WHERE name = ?"));
  select.bind_text(1, name);
  return TRY(select.step()) ? select.int64(0) : 0;
}

Result<std::string> meta_text(Db& db, std::string_view name) {
  Statement select = TRY(db.prepare("SELECT value FROM meta WHERE name = ?"));
  select.bind_text(1, name);
  return TRY(select.step()) ? std::string(select.bytes(0)) : std::string();
}

Result<> set_meta(Db& db, std::string_view name, std::int64_t value) {
  Statement replace = TRY(db.prepare("INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)"));
  return replace.bind_text(1, name).bind(2, value).run();
}

Result<> set_meta(Db& db, std::string_view name, std::string_view value) {
  Statement replace = TRY(db.prepare("INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)"));
  return replace.bind_text(1, name).bind_text(2, value).run();
}

}  // namespace perdure
