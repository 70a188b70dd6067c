// The type-independent parts of the field codec. All but decode_fields() work on text that was
// validated once, as a whole.
#include "base/json/fields_json.h"

#include <algorithm>

namespace perdure {
namespace {

template <class T>
Decoded store(Result<T> result, T& out) {
  if (!result) return wrong(std::move(result).error().message());
  out = *std::move(result);
  return {};
}

bool is_object(std::string_view raw) { return raw.starts_with('{'); }

void append_merged(std::string& out, std::string_view raw, std::string_view unknown);

// What `unknown` holds for a member or an array's element; empty if nothing.
std::string_view find_member(std::string_view object, std::string_view key) {
  std::string buffer;
  for (JsonWalk walk(object); walk.next();) {
    if (*decode_text(walk.quoted_key(), buffer) == key) return walk.value();
  }
  return {};
}

void append_merged_object(std::string& out, std::string_view raw, std::string_view unknown) {
  Members rest;
  CHECK(rest.read(unknown).has_value());
  std::string buffer;
  out += '{';
  for (JsonWalk walk(raw); walk.next();) {
    out += walk.quoted_key();
    out += ':';
    append_merged(out, walk.value(), rest.take(*decode_text(walk.quoted_key(), buffer)));
    out += ',';
  }
  rest.append_rest(out);
  close_json(out, '}');
}

void append_merged_array(std::string& out, std::string_view raw, std::string_view unknown) {
  out += '[';
  std::size_t index = 0;
  for (const std::string_view element : *decode_array(raw)) {
    append_merged(out, element, find_member(unknown, "[" + std::to_string(index++) + "]"));
    out += ',';
  }
  close_json(out, ']');
}

void append_merged(std::string& out, std::string_view raw, std::string_view unknown) {
  if (is_object(unknown) && is_object(raw)) {
    append_merged_object(out, raw, unknown);
  } else if (is_object(unknown) && raw.starts_with('[')) {
    append_merged_array(out, raw, unknown);
  } else {
    append_json_raw(out, raw);
  }
}

}  // namespace

void append_json_key(std::string& out, std::string_view name) {
  out += '"';
  out += name;
  out += "\":";
}

void append_json_raw(std::string& out, std::string_view json) {
  const std::size_t from = out.size();
  out += json;
  // A line break in valid JSON is white space between tokens: a record stays on one line.
  if (json.find_first_of("\r\n") == std::string_view::npos) return;
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(from), out.end(),
      [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

void FieldError::inside(std::string_view step) {
  if (!path.empty() && !path.starts_with('[')) path.insert(0, 1, '.');
  path.insert(0, step.substr(0, 64));
}

Error FieldError::error() && {
  Error error(Code::invalid_argument, std::move(message));
  return path.empty() ? error : std::move(error).with_context(path);
}

Decoded Members::read(std::string_view object) {
  if (object.find_first_not_of(" \t\r\n") == std::string_view::npos ||
      object[object.find_first_not_of(" \t\r\n")] != '{') {
    return wrong("expected an object");
  }
  members_.reserve(16);
  std::vector<std::string_view> keys;
  keys.reserve(16);
  for (JsonWalk walk(object); walk.next();) {
    std::string buffer;
    std::string_view key = *decode_text(walk.quoted_key(), buffer);
    if (!buffer.empty()) key = unescaped_keys_.emplace_front(std::move(buffer));
    members_.push_back({key, walk.quoted_key(), walk.value()});
    keys.push_back(key);
  }
  if (const auto twice = json_repeated_key(keys)) {
    return std::unexpected(FieldError{std::string(twice->substr(0, 64)), "it is there twice"});
  }
  return {};
}

std::string_view Members::take(std::string_view key) {
  for (std::size_t tried = 0; tried < members_.size(); ++tried) {
    if (next_ >= members_.size()) next_ = 0;
    Member& member = members_[next_++];
    if (member.key == key) {
      member.taken = true;
      return member.value;
    }
  }
  return {};
}

void Members::append_rest(std::string& out) const {
  for (const Member& member : members_) {
    if (member.taken) continue;
    out += member.quoted_key;
    out += ':';
    append_json_raw(out, member.value);
    out += ',';
  }
}

void append_unknown(std::string& out, std::string_view step, std::string_view members) {
  json_append_string(out, step);
  out += ":{";
  out += members;
  close_json(out, '}');
  out += ',';
}

Decoded decode_json(std::string_view raw, std::string& out) { return store(json_string(raw), out); }
Decoded decode_json(std::string_view raw, bool& out) { return store(json_bool(raw), out); }
Decoded decode_json(std::string_view raw, std::int64_t& out) { return store(json_int(raw), out); }
Decoded decode_json(std::string_view raw, std::uint64_t& out) { return store(json_uint(raw), out); }

Decoded decode_json(std::string_view raw, Timestamp& out) {
  std::string buffer;
  const auto text = decode_text(raw, buffer);
  return text ? store(parse_timestamp(*text), out) : Decoded(std::unexpected(text.error()));
}

Decoded decode_json(std::string_view raw, Hash& out) {
  std::string buffer;
  const auto text = decode_text(raw, buffer);
  return text ? store(Hash::parse_hex(*text), out) : Decoded(std::unexpected(text.error()));
}

std::expected<std::string_view, FieldError> decode_text(std::string_view raw, std::string& buffer) {
  if (!raw.starts_with('"')) return wrong("expected a string");
  const std::string_view body = raw.substr(1, raw.size() - 2);
  if (body.find('\\') == std::string_view::npos) return body;
  buffer = *json_string(raw);
  return std::string_view(buffer);
}

Decoded decode_name(std::string_view raw, std::span<const std::string_view> names,
                    std::size_t& index) {
  std::string buffer;
  const auto text = decode_text(raw, buffer);
  if (!text) return std::unexpected(text.error());
  const auto at = std::ranges::find(names, *text);
  if (at == names.end()) return wrong("'" + std::string(text->substr(0, 64)) + "' is not known");
  index = static_cast<std::size_t>(at - names.begin());
  return {};
}

std::expected<std::vector<std::string_view>, FieldError> decode_array(std::string_view raw) {
  auto elements = json_elements(raw);
  if (!elements) return wrong(std::move(elements).error().message());
  return *std::move(elements);
}

std::string merge_unknown(std::string_view object, const RawJson& unknown) {
  std::string out;
  append_merged(out, object, unknown.text);
  return out;
}

}  // namespace perdure
