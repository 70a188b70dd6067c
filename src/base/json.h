// JSON at our borders: validated by Boost.JSON with limits, then read as raw slices, so that number
// text and unknown members survive byte for byte; and a writer that splices raw values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace perdure {

// A valid JSON value kept as its text. Empty means absent.
struct RawJson {
  std::string text;
  bool operator==(const RawJson&) const = default;
};

// Whether valid JSON has more levels than that; a text or a number has none.
bool json_is_deeper(std::string_view json, std::size_t levels);
// One whole JSON value of valid UTF-8 and bounded depth (json_depth_max), or invalid_argument.
Result<> json_validate(std::string_view text);

// The members of one JSON object as raw slices of the text it was parsed from, which must outlive
// it. Keys are unescaped; a repeated key is an error.
class JsonObject {
 public:
  using Member = std::pair<std::string, std::string_view>;

  static Result<JsonObject> parse(std::string_view text);

  const std::vector<Member>& members() const { return members_; }
  // The raw value, or empty when there is no such member.
  std::string_view find(std::string_view key) const;

 private:
  std::vector<Member> members_;
};

// Walks the members of one object without copying anything. The text is known to be valid JSON and
// outlives the walk; a text that is no object has no members.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view object);

  // Steps to the first or next member; false behind the last one.
  bool next();
  std::string_view quoted_key() const { return key_; }  // as written: with quotes and escapes
  std::string_view value() const { return value_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view key_;
  std::string_view value_;
};

// A key that is there twice, if there is one. Not quadratic, whatever a peer sends.
std::optional<std::string_view> json_repeated_key(const std::vector<std::string_view>& keys);

// Appends the text as a JSON string; ill-formed UTF-8 becomes U+FFFD.
void json_append_string(std::string& out, std::string_view value);

// These take a raw value that is known to be valid JSON; a value of another type is
// invalid_argument.
Result<std::string> json_string(std::string_view raw);
Result<std::int64_t> json_int(std::string_view raw);
Result<std::uint64_t> json_uint(std::string_view raw);
Result<bool> json_bool(std::string_view raw);
Result<std::vector<std::string_view>> json_elements(std::string_view raw);
inline bool json_is_null(std::string_view raw) { return raw == "null"; }

// Builds one JSON text left to right. Keys come in call order; commas are its own business.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);  // ill-formed UTF-8 becomes U+FFFD
  JsonWriter& number(std::int64_t value);
  JsonWriter& number_unsigned(std::uint64_t value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // must be valid JSON

  const std::string& text() const { return text_; }
  std::string take() && { return std::move(text_); }

 private:
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace perdure
