// An owned SQLite connection and statement. The code of each Error tells the store what to do:
// after disk_full nothing was changed, damaged and internal concern only the statement, and after
// storage_unknown this connection must not write again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "base/result.h"

namespace perdure {

// The Error for an SQLite result code, with `doing` in front.
Error sqlite_error(int result, std::string_view doing, std::string_view detail = {});

// A prepared statement. Bound bytes are not copied: they must live until the reset.
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

  // Moves to the next row; false if there are no more rows.
  Result<bool> step();
  // Runs to the end and resets.
  Result<> run();
  void reset() { sqlite3_reset(handle_); }

  // Columns of the current row, numbered from 0. Bytes are valid until the next step or reset.
  std::int64_t int64(int column) const { return sqlite3_column_int64(handle_, column); }
  std::uint64_t u64(int column) const { return static_cast<std::uint64_t>(int64(column)); }
  std::string_view bytes(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* handle_ = nullptr;
};

// Resets a statement at the end of a scope, so that an early return leaves no read open.
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

// A connection. Closing it never checkpoints, so it writes and syncs nothing: only the store
// decides when to checkpoint.
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
  // The first column of the first row, or 0 without a row.
  Result<std::int64_t> query_int(std::string_view sql);

  sqlite3* handle() const { return handle_; }
  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

 private:
  sqlite3* handle_ = nullptr;
};

}  // namespace perdure
