// The tables, and the few named values in `meta`. The format number says who may open a file: a
// newer one is refused, never misread; older ones are migrated here, one step a number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store_sqlite/sqlite_db.h"

namespace perdure {

inline constexpr std::int64_t application_id = 0x50645572;  // "PdUr"
inline constexpr std::int64_t format_version = 1;

// Written behind, see session_index.h: each can be set aside and made again from the log.
inline constexpr const char* heads_table_sql =
    "CREATE TABLE heads(sid INTEGER PRIMARY KEY, head INTEGER NOT NULL, cursor BLOB, good INTEGER)";
inline constexpr const char* extents_table_sql =
    "CREATE TABLE extents(sid INTEGER, first_seq INTEGER, packed BLOB NOT NULL, "
    "PRIMARY KEY(sid, first_seq)) WITHOUT ROWID";

// The full-text index is a projection and can be dropped and made again.
inline constexpr const char* search_table_sql =
    "CREATE VIRTUAL TABLE search USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')";

// Its texts by message, and the pieces of those that are still being written. Made with the first
// text, so that a file of before gets them too.
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

// What the open file is: fresh (no table at all), ours, or an error: a foreign database
// (invalid_argument), a newer format (format_too_new), damage. Reads only.
Result<FileState> identify(Db& db);

// Page size, journal mode and durability of the writer's connection. The page size takes effect in
// a fresh file only. SQLite opens a file it may not write as read-only: that is an error here.
Result<> configure_writer(Db& db, std::uint64_t wal_bytes_max);

// The table of redacted records, if it is not there yet.
Result<> add_redactions(Db& db);
// Whether anything was ever redacted in this file.
Result<bool> has_redactions(Db& db);

// Makes the tables of a fresh file.
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
inline constexpr std::string_view searched = "searched";  // first row of the block search is at
inline constexpr std::string_view searched_entries =
    "searched_entries";                                               // entries of it that are done
inline constexpr std::string_view search_version = "search_version";  // form of the texts' tables
inline constexpr std::string_view scrub_due = "scrub_due";  // 1: the WAL may hold what was erased
inline constexpr std::string_view is_backup = "is_backup";  // 1: gets a new log_id when opened
}  // namespace meta

}  // namespace perdure
