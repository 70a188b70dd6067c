// Values in PostgreSQL's binary protocol: parameters, and rows of a result. Binary, so that bytes
// need no escaping and numbers no parsing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/id.h"

struct pg_result;

namespace perdure {

// The types in use, by their object ids.
enum class PgType : unsigned {
  boolean = 16,
  bytes = 17,
  int8 = 20,
  text = 25,
  uuid = 2950,
};

// A column of values that becomes one array parameter.
class PgArray {
 public:
  explicit PgArray(PgType type);

  void add(std::int64_t value);
  void add(std::uint64_t value) { add(static_cast<std::int64_t>(value)); }
  void add(std::string_view bytes);
  void add(const std::string& bytes) { add(std::string_view(bytes)); }
  void add(Ulid id);
  void add(const Hash& hash);
  void add_flag(unsigned char flag);  // 0 or 1
  void add_null();

  std::size_t size() const { return count_; }
  // The parameter's bytes; the array is unchanged.
  std::string encoded() const;
  PgType type() const { return type_; }

 private:
  PgType type_;
  std::uint32_t count_ = 0;
  bool has_null_ = false;
  std::string body_;
};

class PgParams {
 public:
  PgParams& number(std::int64_t value);
  PgParams& number(std::uint64_t value) { return number(static_cast<std::int64_t>(value)); }
  PgParams& bytes(std::string_view value);
  PgParams& text(std::string_view value);
  PgParams& id(Ulid value);
  PgParams& array(const PgArray& value);

  std::size_t size() const { return values_.size(); }
  const std::vector<std::string>& values() const { return values_; }
  const std::vector<unsigned>& types() const { return types_; }

 private:
  PgParams& add(PgType type, std::string value);

  std::vector<std::string> values_;
  std::vector<unsigned> types_;
};

// The rows of a result. Reading a column as a wrong type fails a CHECK.
class PgRows {
 public:
  explicit PgRows(pg_result* result);

  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }

  struct At {
    std::size_t row = 0;
    int column = 0;
  };
  bool is_null(At at) const;
  std::int64_t number(At at) const;
  std::uint64_t u64(At at) const { return static_cast<std::uint64_t>(number(at)); }
  bool flag(At at) const;
  std::string_view bytes(At at) const;
  Ulid id(At at) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
  std::size_t size_ = 0;
};

std::string pg_bytes(Ulid id);
std::string_view pg_bytes(const Hash& hash);

}  // namespace perdure
