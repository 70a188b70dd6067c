#include "store/sqlite/sqlite_db.h"

#include "base/check.h"

namespace perdure {
namespace {

Code code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL: return Code::disk_full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::damaged;
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT: return Code::internal;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_BUSY: return Code::unavailable;
    default: return Code::storage_unknown;
  }
}

}  // namespace

Error sqlite_error(int result, std::string_view doing, std::string_view detail) {
  std::string message(doing);
  message += ": ";
  message += (result & 0xff) == SQLITE_FULL ? "the journal's disk is full" : sqlite3_errstr(result);
  message += " (SQLite " + std::to_string(result) + ")";
  if (!detail.empty() && detail != sqlite3_errstr(result)) message.append(": ").append(detail);
  return {code_of(result), std::move(message)};
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  CHECK(sqlite3_bind_int64(handle_, parameter, value) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_u64(int parameter, std::uint64_t value) {
  return bind(parameter, static_cast<std::int64_t>(value));
}

Statement& Statement::bind_blob(int parameter, std::string_view bytes) {
  // A null pointer would bind NULL instead of an empty blob.
  const char* at = bytes.data() == nullptr ? "" : bytes.data();
  CHECK(sqlite3_bind_blob64(handle_, parameter, at, bytes.size(), SQLITE_STATIC) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_text(int parameter, std::string_view text) {
  const char* at = text.data() == nullptr ? "" : text.data();
  CHECK(sqlite3_bind_text64(handle_, parameter, at, text.size(), SQLITE_STATIC, SQLITE_UTF8) ==
        SQLITE_OK);
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  CHECK(sqlite3_bind_null(handle_, parameter) == SQLITE_OK);
  return *this;
}

Result<bool> Statement::step() {
  const int result = sqlite3_step(handle_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return std::unexpected(
      sqlite_error(sqlite3_extended_errcode(sqlite3_db_handle(handle_)), sqlite3_sql(handle_)));
}

Result<> Statement::run() {
  while (true) {
    const Result<bool> row = step();
    if (row && *row) continue;
    sqlite3_reset(handle_);
    if (!row) return std::unexpected(row.error());
    return {};
  }
}

std::string_view Statement::bytes(int column) const {
  const auto* at = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  const int size = sqlite3_column_bytes(handle_, column);
  return at == nullptr ? std::string_view() : std::string_view(at, static_cast<std::size_t>(size));
}

Result<Db> Db::open(const DbOptions& options) {
  Db db;
  const int result =
      sqlite3_open_v2(options.path.c_str(), &db.handle_, options.flags | SQLITE_OPEN_NOMUTEX,
                      options.vfs.empty() ? nullptr : options.vfs.c_str());
  if (result != SQLITE_OK) {
    return std::unexpected(
        sqlite_error(sqlite3_extended_errcode(db.handle_), "open " + options.path));
  }
  sqlite3_extended_result_codes(db.handle_, 1);
  sqlite3_busy_timeout(db.handle_, 2000);
  CHECK(sqlite3_db_config(db.handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr) == SQLITE_OK);
  CHECK(sqlite3_wal_autocheckpoint(db.handle_, 0) == SQLITE_OK);
  return db;
}

Result<Statement> Db::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) {
    return std::unexpected(sqlite_error(result, sql, sqlite3_errmsg(handle_)));
  }
  return Statement(statement);
}

Result<> Db::exec(const std::string& sql) {
  const int result = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) {
    return std::unexpected(
        sqlite_error(sqlite3_extended_errcode(handle_), sql, sqlite3_errmsg(handle_)));
  }
  return {};
}

Result<std::int64_t> Db::query_int(std::string_view sql) {
  Statement statement = TRY(prepare(sql));
  return TRY(statement.step()) ? statement.int64(0) : 0;
}

}  // namespace perdure
