// Boost.JSON does the checking; all that follows walks text that is known to be valid, so that the
// walkers need no error paths. Nothing here may run on text that json_validate() has not seen.
#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <boost/json/basic_parser_impl.hpp>

#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

// Accepts everything: the parser itself does the checking.
struct NullHandler {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  using Code = boost::json::error_code;
  using View = boost::json::string_view;
  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return true; }
  bool on_object_end(std::size_t, Code&) { return true; }
  bool on_array_begin(Code&) { return true; }
  bool on_array_end(std::size_t, Code&) { return true; }
  bool on_key_part(View, std::size_t, Code&) { return true; }
  bool on_key(View, std::size_t, Code&) { return true; }
  bool on_string_part(View, std::size_t, Code&) { return true; }
  bool on_string(View, std::size_t, Code&) { return true; }
  bool on_number_part(View, Code&) { return true; }
  bool on_int64(std::int64_t, View, Code&) { return true; }
  bool on_uint64(std::uint64_t, View, Code&) { return true; }
  bool on_double(double, View, Code&) { return true; }
  bool on_bool(bool, Code&) { return true; }
  bool on_null(Code&) { return true; }
  bool on_comment_part(View, Code&) { return true; }
  bool on_comment(View, Code&) { return true; }
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The end of the string that starts at text[at] == '"', one past the closing quote.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

// The end of the value that starts at text[at], in text that is known to be valid JSON.
std::size_t value_end(std::string_view text, std::size_t at) {
  if (text[at] == '"') return string_end(text, at);
  if (text[at] != '{' && text[at] != '[') {
    while (at < text.size() && text[at] != ',' && text[at] != '}' && text[at] != ']' &&
           !is_space(text[at])) {
      ++at;
    }
    return at;
  }
  std::size_t depth = 0;
  while (true) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0) return at;
  }
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

unsigned hex4(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + 4, value, 16);
  return value;
}

void append_utf8(std::string& out, unsigned code_point) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0U | (code_point >> 6U));
    put(0x80U | (code_point & 0x3fU));
  } else if (code_point < 0x10000) {
    put(0xe0U | (code_point >> 12U));
    put(0x80U | ((code_point >> 6U) & 0x3fU));
    put(0x80U | (code_point & 0x3fU));
  } else {
    put(0xf0U | (code_point >> 18U));
    put(0x80U | ((code_point >> 12U) & 0x3fU));
    put(0x80U | ((code_point >> 6U) & 0x3fU));
    put(0x80U | (code_point & 0x3fU));
  }
}

// Appends the character of the escape at body[at] == '\\'; returns the place behind it.
std::size_t unescape_one(std::string_view body, std::size_t at, std::string& out) {
  const char c = body[at + 1];
  switch (c) {
    case 'n': out += '\n'; return at + 2;
    case 't': out += '\t'; return at + 2;
    case 'r': out += '\r'; return at + 2;
    case 'b': out += '\b'; return at + 2;
    case 'f': out += '\f'; return at + 2;
    case 'u': break;
    default: out += c; return at + 2;
  }
  unsigned code_point = hex4(body.substr(at + 2, 4));
  at += 6;
  if (code_point >= 0xd800 && code_point < 0xdc00) {
    code_point = 0x10000 + ((code_point - 0xd800) << 10U) + (hex4(body.substr(at + 2, 4)) - 0xdc00);
    at += 6;
  }
  append_utf8(out, code_point);
  return at;
}

std::string unescape(std::string_view body) {
  std::string out;
  out.reserve(body.size());
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t next = std::min(body.find('\\', at), body.size());
    out += body.substr(at, next - at);
    at = next == body.size() ? next : unescape_one(body, next, out);
  }
  return out;
}

template <class Number>
Result<Number> parse_number(std::string_view raw, const char* what) {
  Number value{};
  const auto [end, code] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (code != std::errc() || end != raw.data() + raw.size()) {
    return fail(Code::invalid_argument, std::string("expected ") + what);
  }
  return value;
}

// Whether every byte stands for itself in a JSON string: printable ASCII without quote and
// backslash.
bool is_plain(std::string_view value) {
  bool plain = true;  // no early exit: the compiler turns this loop into vector code
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    plain &= byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
  }
  return plain;
}

void append_escaped(std::string& out, std::string_view value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::size_t clean_from = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out += value.substr(clean_from, i - clean_from);
    clean_from = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        out += "\\u00";
        out += digits[c >> 4U];
        out += digits[c & 15U];
    }
  }
  out += value.substr(clean_from);
}

}  // namespace

bool json_is_deeper(std::string_view json, std::size_t levels) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      at = string_end(json, at);
      continue;
    }
    if ((json[at] == '{' || json[at] == '[') && ++depth > levels) return true;
    if (json[at] == '}' || json[at] == ']') --depth;
    ++at;
  }
  return false;
}

Result<> json_validate(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = json_depth_max;
  boost::json::basic_parser<NullHandler> parser(options);
  boost::json::error_code code;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), code);
  if (code) {
    return fail(Code::invalid_argument,
                "invalid JSON at byte " + std::to_string(used) + ": " + code.message());
  }
  if (used != text.size() || !parser.done()) {
    return fail(Code::invalid_argument, "invalid JSON: more than one value");
  }
  return {};
}

Result<JsonObject> JsonObject::parse(std::string_view text) {
  TRY_VOID(json_validate(text));
  text = trim(text);
  if (text.front() != '{') return fail(Code::invalid_argument, "expected a JSON object");
  JsonObject object;
  for (JsonWalk walk(text); walk.next();) {
    const std::string_view key = walk.quoted_key();
    object.members_.emplace_back(unescape(key.substr(1, key.size() - 2)), walk.value());
  }
  std::vector<std::string_view> keys;
  keys.reserve(object.members_.size());
  for (const Member& member : object.members_) keys.push_back(member.first);
  if (const auto twice = json_repeated_key(keys)) {
    return fail(Code::invalid_argument,
                "the member '" + std::string(utf8_prefix(*twice, 64)) + "' is there twice");
  }
  return object;
}

JsonWalk::JsonWalk(std::string_view object) : text_(trim(object)) {
  if (text_.empty() || text_.front() != '{') text_ = {};
  at_ = text_.empty() ? 0 : skip_space(text_, 1);
}

bool JsonWalk::next() {
  if (text_.empty() || text_[at_] == '}') return false;
  const std::size_t key_end = string_end(text_, at_);
  key_ = text_.substr(at_, key_end - at_);
  at_ = skip_space(text_, skip_space(text_, key_end) + 1);
  const std::size_t end = value_end(text_, at_);
  value_ = text_.substr(at_, end - at_);
  at_ = skip_space(text_, end);
  if (text_[at_] == ',') at_ = skip_space(text_, at_ + 1);
  return true;
}

std::optional<std::string_view> json_repeated_key(const std::vector<std::string_view>& keys) {
  constexpr std::size_t pairwise_max = 24;
  if (keys.size() <= pairwise_max) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (keys[i] == keys[j]) return keys[i];
      }
    }
    return std::nullopt;
  }
  std::vector<std::string_view> sorted = keys;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? std::nullopt : std::optional(*twice);
}

std::string_view JsonObject::find(std::string_view key) const {
  for (const Member& member : members_) {
    if (member.first == key) return member.second;
  }
  return {};
}

Result<std::string> json_string(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"')
    return fail(Code::invalid_argument, "expected a string");
  return unescape(raw.substr(1, raw.size() - 2));
}

Result<std::int64_t> json_int(std::string_view raw) {
  return parse_number<std::int64_t>(raw, "a whole number");
}

Result<std::uint64_t> json_uint(std::string_view raw) {
  return parse_number<std::uint64_t>(raw, "a whole number that is not negative");
}

Result<bool> json_bool(std::string_view raw) {
  if (raw == "true") return true;
  if (raw == "false") return false;
  return fail(Code::invalid_argument, "expected true or false");
}

Result<std::vector<std::string_view>> json_elements(std::string_view raw) {
  if (raw.empty() || raw.front() != '[') return fail(Code::invalid_argument, "expected an array");
  std::vector<std::string_view> elements;
  std::size_t at = skip_space(raw, 1);
  while (raw[at] != ']') {
    const std::size_t end = value_end(raw, at);
    elements.push_back(raw.substr(at, end - at));
    at = skip_space(raw, end);
    if (raw[at] == ',') at = skip_space(raw, at + 1);
  }
  return elements;
}

void json_append_string(std::string& out, std::string_view value) {
  out += '"';
  if (is_plain(value)) {
    out += value;
  } else if (is_utf8(value)) {
    append_escaped(out, value);
  } else {
    append_escaped(out, utf8_scrub(value));
  }
  out += '"';
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  text_ += '{';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  text_ += '}';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  text_ += '[';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  text_ += ']';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  string(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  json_append_string(text_, value);
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::number_unsigned(std::uint64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

}  // namespace perdure
