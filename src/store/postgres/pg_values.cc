#include "store/postgres/pg_values.h"

#include <utility>

#include <libpq-fe.h>

#include "base/check.h"

namespace perdure {
namespace {

template <class Number>
void put_big_endian(std::string& out, Number number) {
  for (int shift = 8 * (static_cast<int>(sizeof(Number)) - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xffU);
  }
}

std::uint64_t get_big_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char c : bytes) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

unsigned array_type(PgType type) {
  switch (type) {
    case PgType::boolean: return 1000;
    case PgType::bytes: return 1001;
    case PgType::int8: return 1016;
    case PgType::text: return 1009;
    case PgType::uuid: return 2951;
  }
  CHECK(false, "no such type");
}

}  // namespace

std::string pg_bytes(Ulid id) {
  std::string out;
  put_big_endian(out, id.high);
  put_big_endian(out, id.low);
  return out;
}

std::string_view pg_bytes(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size()};
}

PgArray::PgArray(PgType type) : type_(type) {}

void PgArray::add(std::int64_t value) {
  CHECK(type_ == PgType::int8);
  put_big_endian(body_, std::uint32_t{8});
  put_big_endian(body_, static_cast<std::uint64_t>(value));
  ++count_;
}

void PgArray::add(std::string_view bytes) {
  CHECK(type_ == PgType::bytes || type_ == PgType::text);
  put_big_endian(body_, static_cast<std::uint32_t>(bytes.size()));
  body_ += bytes;
  ++count_;
}

void PgArray::add(Ulid id) {
  CHECK(type_ == PgType::uuid);
  put_big_endian(body_, std::uint32_t{16});
  body_ += pg_bytes(id);
  ++count_;
}

void PgArray::add(const Hash& hash) { add(pg_bytes(hash)); }

void PgArray::add_flag(unsigned char flag) {
  CHECK(type_ == PgType::boolean);
  put_big_endian(body_, std::uint32_t{1});
  body_ += static_cast<char>(flag);
  ++count_;
}

void PgArray::add_null() {
  put_big_endian(body_, ~std::uint32_t{0});
  has_null_ = true;
  ++count_;
}

std::string PgArray::encoded() const {
  std::string out;
  out.reserve(body_.size() + 20);
  put_big_endian(out, std::uint32_t{count_ == 0 ? 0U : 1U});  // dimensions
  put_big_endian(out, std::uint32_t{has_null_ ? 1U : 0U});
  put_big_endian(out, static_cast<std::uint32_t>(type_));
  if (count_ == 0) return out;
  put_big_endian(out, count_);
  put_big_endian(out, std::uint32_t{1});  // the index of the first
  return out + body_;
}

PgParams& PgParams::add(PgType type, std::string value) {
  types_.push_back(static_cast<unsigned>(type));
  values_.push_back(std::move(value));
  return *this;
}

PgParams& PgParams::number(std::int64_t value) {
  std::string out;
  put_big_endian(out, static_cast<std::uint64_t>(value));
  return add(PgType::int8, std::move(out));
}

PgParams& PgParams::bytes(std::string_view value) { return add(PgType::bytes, std::string(value)); }
PgParams& PgParams::text(std::string_view value) { return add(PgType::text, std::string(value)); }
PgParams& PgParams::id(Ulid value) { return add(PgType::uuid, pg_bytes(value)); }

PgParams& PgParams::array(const PgArray& value) {
  types_.push_back(array_type(value.type()));
  values_.push_back(value.encoded());
  return *this;
}

void PgRows::Clear::operator()(pg_result* result) const { PQclear(result); }

PgRows::PgRows(pg_result* result)
    : result_(result), size_(static_cast<std::size_t>(PQntuples(result))) {}

bool PgRows::is_null(At at) const {
  return PQgetisnull(result_.get(), static_cast<int>(at.row), at.column) != 0;
}

std::string_view PgRows::bytes(At at) const {
  CHECK(at.row < size_ && at.column < PQnfields(result_.get()));
  const int row = static_cast<int>(at.row);
  return {PQgetvalue(result_.get(), row, at.column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, at.column))};
}

std::int64_t PgRows::number(At at) const {
  CHECK(PQftype(result_.get(), at.column) == static_cast<unsigned>(PgType::int8));
  return static_cast<std::int64_t>(get_big_endian(bytes(at)));
}

bool PgRows::flag(At at) const {
  CHECK(PQftype(result_.get(), at.column) == static_cast<unsigned>(PgType::boolean));
  return bytes(at) != std::string_view("\0", 1);
}

Ulid PgRows::id(At at) const {
  const std::string_view text = bytes(at);
  CHECK(text.size() == 16);
  return {.high = get_big_endian(text.substr(0, 8)), .low = get_big_endian(text.substr(8))};
}

}  // namespace perdure
