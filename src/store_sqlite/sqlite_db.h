// A connection and a statement of SQLite, owned. Every failure becomes an Error whose code says
// what the store has to do about it: disk_full is clean, damaged and internal concern the
// statement, and storage_unknown means that nobody may write through this connection again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "base/result.h"

namespace perdure {

// The Error for a result code of SQLite, `doing` in front.
Error sqlite_error(int result, std::string_view doing, std::string_view detail = {});

// A prepared statement. Bound bytes are not copied: they must live until the statement is reset.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  Statement(Statement&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Statement() { sqlite3_finalize(handle_); }

  // Parameters are numbered from 1.
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind_u64(int parameter, std::uint64_t value);
  Statement& bind_blob(int parameter, std::string_view bytes);
  Statement& bind_text(int parameter, std::string_view text);
  Statement& bind_null(int parameter);

  // To the next row; false when there is none any more.
  Result<bool> step();
  // Runs to the end and resets.
  Result<> run();
  void reset() { sqlite3_reset(handle_); }

  // Columns of the present row, numbered from 0. Bytes are valid until the next step or reset.
  std::int64_t int64(int column) const { return sqlite3_column_int64(handle_, column); }
  std::uint64_t u64(int column) const { return static_cast<std::uint64_t>(int64(column)); }
  std::string_view bytes(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* handle_ = nullptr;
};

// Resets a statement at the end of a scope, so that no read stays open behind an early return.
class Query {
 public:
  explicit Query(Statement& statement) : statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() { statement_.reset(); }

  Statement* operator->() { return &statement_; }

 private:
  Statement& statement_;
};

struct DbOptions {
  std::string path;
  std::string vfs;  // empty: SQLite's default
  int flags = 0;    // SQLITE_OPEN_…
};

// A connection. Closing it never checkpoints, so it writes and syncs nothing: that is the store's
// decision alone.
class Db {
 public:
  Db() = default;
  Db(Db&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Db& operator=(Db&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Db() { sqlite3_close_v2(handle_); }

  static Result<Db> open(const DbOptions& options);

  Result<Statement> prepare(std::string_view sql);
  Result<> exec(const std::string& sql);
  // The first column of the first row, 0 without a row.
  Result<std::int64_t> query_int(std::string_view sql);

  sqlite3* handle() const { return handle_; }
  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

 private:
  sqlite3* handle_ = nullptr;
};

}  // namespace perdure
