// The tables, and the named values in `meta`. The format number decides who may open a file: a
// newer format is refused, never misread; older ones are migrated here, one step per number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {

inline constexpr std::int64_t application_id = 0x50645572;  // "PdUr"
inline constexpr std::int64_t format_version = 1;

// Written later than the log, see session_index.h: each can be set aside and rebuilt from the log.
inline constexpr const char* heads_table_sql =
    "CREATE TABLE heads(sid INTEGER PRIMARY KEY, head INTEGER NOT NULL, cursor BLOB, good INTEGER)";
inline constexpr const char* extents_table_sql =
    "CREATE TABLE extents(sid INTEGER, first_seq INTEGER, packed BLOB NOT NULL, "
    "PRIMARY KEY(sid, first_seq)) WITHOUT ROWID";

// The full-text index is a projection and can be dropped and rebuilt.
inline constexpr const char* search_table_sql =
    "CREATE VIRTUAL TABLE search USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')";

// Its texts by message, and the pieces of unfinished ones. Created with the first text, so that
// older files get them too.
inline constexpr const char* texts_tables_sql = R"(
DROP TABLE IF EXISTS texts;
DROP TABLE IF EXISTS text_pieces;
CREATE TABLE texts(row INTEGER PRIMARY KEY, sid INTEGER NOT NULL, seq INTEGER NOT NULL,
  first INTEGER NOT NULL, last INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
  key TEXT NOT NULL, name TEXT NOT NULL, is_stream INTEGER NOT NULL, is_open INTEGER NOT NULL,
  bytes INTEGER NOT NULL, indexed INTEGER NOT NULL);
CREATE INDEX texts_open ON texts(sid) WHERE is_open = 1;
CREATE INDEX texts_place ON texts(sid, first);
CREATE TABLE text_pieces(row INTEGER, number INTEGER, words TEXT NOT NULL,
  PRIMARY KEY(row, number)) WITHOUT ROWID;
)";

enum class FileState { fresh, ours };

// Identifies the open file: fresh (no tables), ours, or an error: a foreign database
// (invalid_argument), a newer format (format_too_new), damage. Reads only.
Result<FileState> identify(Db& db);

// Sets page size (effective only in a fresh file), journal mode and durability of the writer's
// connection. Fails if SQLite opened the file read-only for lack of permission.
Result<> configure_writer(Db& db, std::uint64_t wal_bytes_max);

// Creates the table of redacted records if it does not exist.
Result<> add_redactions(Db& db);
// Whether any record of this file was ever redacted.
Result<bool> has_redactions(Db& db);

// Creates the tables of a fresh file.
Result<> create_schema(Db& db, std::string_view log_id);

// Named values. A missing number reads as 0, a missing text as "".
Result<std::int64_t> meta_int(Db& db, std::string_view name);
Result<std::string> meta_text(Db& db, std::string_view name);
Result<> set_meta(Db& db, std::string_view name, std::int64_t value);
Result<> set_meta(Db& db, std::string_view name, std::string_view value);

namespace meta {
inline constexpr std::string_view log_id = "log_id";
inline constexpr std::string_view epoch = "epoch";
inline constexpr std::string_view indexed = "indexed";  // the log before this row is in the extents
inline constexpr std::string_view searched = "searched";  // first row of the next block to search
inline constexpr std::string_view searched_entries =
    "searched_entries";                                               // its entries that are done
inline constexpr std::string_view search_version = "search_version";  // format of the text tables
inline constexpr std::string_view scrub_due = "scrub_due";  // 1: the WAL may hold erased bytes
inline constexpr std::string_view is_backup = "is_backup";  // 1: gets a new log_id when opened
}  // namespace meta

}  // namespace perdure
