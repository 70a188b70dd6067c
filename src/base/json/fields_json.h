// Encodes structs with FIELDS as JSON objects and decodes them, by one rule: a blank member (an
// empty text, 0, false, no id) is omitted and reads back as the struct's default. A field with
// another default, and every enum, is always written, so that bytes never change meaning.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <forward_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/hash.h"
#include "base/check.h"
#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"

namespace perdure {

// The field list of a type that cannot have FIELDS of its own.
template <class Self>
  requires std::same_as<std::remove_const_t<Self>, Deadline>
void wire_fields(Self& self, auto&& visit) {
  visit("at", self.wall);
  visit("granted_ms", self.granted_ms);
  visit("boot_ms", self.since_boot.ms);
  visit("host_boot", self.host_boot);
}

template <class T>
concept FieldStruct = HasFields<T> || requires(T& value) { wire_fields(value, AnyVisitor{}); };

template <FieldStruct T>
void visit_fields(T& value, auto&& visit) {
  if constexpr (HasFields<T>) {
    value.fields(visit);
  } else {
    wire_fields(value, visit);
  }
}

template <class T>
concept StrongId = requires(const T& id) {
  { T::prefix } -> std::convertible_to<std::string_view>;
  { id.ulid() } -> std::same_as<Ulid>;
};
template <class T>
concept WholeNumber = std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_sequence = false;
template <class T>
inline constexpr bool is_sequence<std::vector<T>> = true;
template <class T>
inline constexpr bool is_sequence<std::deque<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class Key, class T>
inline constexpr bool is_map<std::map<Key, T>> = true;

// Encoding. Each member is appended with a comma after it; close_json() removes the last one.

void append_json_key(std::string& out, std::string_view name);  // a name that needs no escapes
void append_json_raw(std::string& out, std::string_view json);  // on one line
inline void close_json(std::string& out, char bracket) {
  if (out.back() == ',') {
    out.back() = bracket;
  } else {
    out += bracket;
  }
}

template <FieldStruct T>
std::uint64_t always_written();

// The visitors below are structs and not lambdas, so that each is instantiated once per type of
// field and not once per struct with such a field: the event kinds have 152 fields of 40 types.

template <class T>
bool is_blank(const T& value);

struct BlankFields {
  bool blank = true;

  template <class T>
  void operator()(std::string_view, const T& field) {
    blank = blank && is_blank(field);
  }
};

struct NonBlankFields {
  std::uint64_t bits = 0;
  std::size_t index = 0;

  template <class T>
  void operator()(std::string_view, const T& field) {
    CHECK(index < 64, "a struct has too many fields");
    if (!is_blank(field)) bits |= std::uint64_t{1} << index;
    ++index;
  }
};

// Whether the value is blank. Enums never are.
template <class T>
bool is_blank(const T& value) {
  if constexpr (TextEnum<T>) {
    return false;
  } else if constexpr (std::same_as<T, bool> || WholeNumber<T>) {
    return !value;
  } else if constexpr (StrongId<T>) {
    return value.is_null();
  } else if constexpr (std::same_as<T, RawJson>) {
    return value.text.empty();
  } else if constexpr (std::same_as<T, Timestamp> || std::same_as<T, Hash>) {
    return value == T{};
  } else if constexpr (is_optional<T>) {
    return !value.has_value();
  } else if constexpr (FieldStruct<const T>) {
    if (always_written<T>() != 0) return false;
    BlankFields fields;
    visit_fields(value, fields);
    return fields.blank;
  } else {
    return value.empty();
  }
}

// One bit for each field that is never omitted: those whose default is not blank.
template <FieldStruct T>
std::uint64_t always_written() {
  static const std::uint64_t mask = [] {
    const T defaults{};
    NonBlankFields fields;
    visit_fields(defaults, fields);
    return fields.bits;
  }();
  return mask;
}

template <class T>
void append_json(std::string& out, const T& value);

struct FieldWriter {
  std::string& out;
  std::uint64_t always;  // one bit per field from here on

  template <class T>
  void operator()(std::string_view name, const T& field) {
    const bool keep = (always & 1U) != 0;
    always >>= 1;
    if (!keep && is_blank(field)) return;
    append_json_key(out, name);
    append_json(out, field);
    out += ',';
  }
};

// The struct's members, each with a comma after it.
template <FieldStruct T>
void append_members(std::string& out, const T& value) {
  visit_fields(value, FieldWriter{out, always_written<T>()});
}

template <class T>
void append_json_text(std::string& out, const T& value) {
  if constexpr (std::same_as<T, std::string>) {
    json_append_string(out, value);
  } else {
    out += '"';
    if constexpr (StrongId<T>) {
      value.append_to(out);
    } else if constexpr (TextEnum<T>) {
      out += enum_text(value);
    } else if constexpr (std::same_as<T, Timestamp>) {
      append_timestamp(out, value);
    } else {
      value.append_hex(out);
    }
    out += '"';
  }
}

// Writes the value even if it is blank.
template <class T>
void append_json(std::string& out, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (WholeNumber<T>) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, static_cast<std::size_t>(end - digits));
  } else if constexpr (std::same_as<T, RawJson>) {
    append_json_raw(out, value.text.empty() ? std::string_view("null") : value.text);
  } else if constexpr (is_optional<T>) {
    if (value) {
      append_json(out, *value);
    } else {
      out += "null";
    }
  } else if constexpr (is_sequence<T>) {
    out += '[';
    for (const auto& element : value) {
      append_json(out, element);
      out += ',';
    }
    close_json(out, ']');
  } else if constexpr (is_map<T>) {
    out += '{';
    for (const auto& [key, element] : value) {
      append_json_text(out, key);
      out += ':';
      append_json(out, element);
      out += ',';
    }
    close_json(out, '}');
  } else if constexpr (FieldStruct<const T>) {
    out += '{';
    append_members(out, value);
    close_json(out, '}');
  } else {
    append_json_text(out, value);
  }
}

// The struct as one JSON object on one line.
template <FieldStruct T>
std::string encode_fields(const T& value) {
  std::string out;
  append_json(out, value);
  return out;
}

// Decoding.

// The position of an invalid value, and why it is invalid. The path is built from the inside out:
// "agent.name", "options[2].id".
struct FieldError {
  std::string path;
  std::string message;

  void inside(std::string_view step);
  Error error() &&;  // invalid_argument
};
using Decoded = std::expected<void, FieldError>;
inline std::unexpected<FieldError> wrong(std::string message) {
  return std::unexpected(FieldError{{}, std::move(message)});
}

// The members of an object in text that is known to be valid JSON and outlives them. Taking them in
// the order of the text costs one comparison each.
class Members {
 public:
  // An error if it is not an object or has a repeated key.
  Decoded read(std::string_view object);

  // The raw value, empty if absent; the member then counts as known.
  std::string_view take(std::string_view key);
  // Appends the members that were not taken, unchanged, each with a comma after it.
  void append_rest(std::string& out) const;

 private:
  struct Member {
    std::string_view key;
    std::string_view quoted_key;
    std::string_view value;
    bool taken = false;
  };
  std::vector<Member> members_;
  std::forward_list<std::string> unescaped_keys_;
  std::size_t next_ = 0;
};

// Appends `"step":{…},`: the unknown members found inside a value.
void append_unknown(std::string& out, std::string_view step, std::string_view members);

Decoded decode_json(std::string_view raw, std::string& out);
Decoded decode_json(std::string_view raw, bool& out);
Decoded decode_json(std::string_view raw, std::int64_t& out);
Decoded decode_json(std::string_view raw, std::uint64_t& out);
Decoded decode_json(std::string_view raw, Timestamp& out);
Decoded decode_json(std::string_view raw, Hash& out);
// The characters of a string: a slice of raw, or of `buffer` if there were escapes.
std::expected<std::string_view, FieldError> decode_text(std::string_view raw, std::string& buffer);
// The index of a string among the names; an error if it is none of them.
Decoded decode_name(std::string_view raw, std::span<const std::string_view> names,
                    std::size_t& index);
// Splits an array.
std::expected<std::vector<std::string_view>, FieldError> decode_array(std::string_view raw);

template <StrongId T>
Decoded parse_key(std::string_view text, T& out) {
  auto id = T::parse(text);
  if (!id) return wrong(id.error().message());
  out = *id;
  return {};
}
inline Decoded parse_key(std::string_view text, std::string& out) {
  out = text;
  return {};
}

template <class T>
Decoded decode_value(std::string_view raw, T& out, std::string& unknown);

struct FieldReader {
  Members& members;
  std::string& unknown;
  Decoded result;

  template <class T>
  void operator()(std::string_view name, T& field) {
    if (!result) return;
    const std::string_view raw = members.take(name);
    if (!raw.empty()) read(name, raw, field);
  }

 private:
  template <class T>
  void read(std::string_view name, std::string_view raw, T& field) {
    std::string inside;
    result = decode_value(raw, field, inside);
    if (!result) result.error().inside(name);
    if (!inside.empty()) append_unknown(unknown, name, inside);
  }
};

// Sets the fields whose members are present and leaves the others unchanged. Unknown members inside
// nested values are appended to `unknown`; those of this object stay in `members`.
template <FieldStruct T>
Decoded decode_members(Members& members, T& out, std::string& unknown) {
  FieldReader reader{members, unknown, {}};
  visit_fields(out, reader);
  return std::move(reader.result);
}

template <FieldStruct T>
Decoded decode_struct(std::string_view raw, T& out, std::string& unknown) {
  Members members;
  if (auto read = members.read(raw); !read) return read;
  T value{};
  if (auto decoded = decode_members(members, value, unknown); !decoded) return decoded;
  members.append_rest(unknown);
  out = std::move(value);
  return {};
}

template <class T>
Decoded decode_sequence(std::string_view raw, T& out, std::string& unknown) {
  auto elements = decode_array(raw);
  if (!elements) return std::unexpected(std::move(elements).error());
  out.clear();
  for (const std::string_view element : *elements) {
    std::string inside;
    auto decoded = decode_value(element, out.emplace_back(), inside);
    const auto step = [&] { return "[" + std::to_string(out.size() - 1) + "]"; };
    if (!decoded) {
      decoded.error().inside(step());
      return decoded;
    }
    if (!inside.empty()) append_unknown(unknown, step(), inside);
  }
  return {};
}

template <class T>
Decoded decode_map(std::string_view raw, T& out, std::string& unknown) {
  if (!raw.starts_with('{')) return wrong("expected an object");
  out.clear();
  for (JsonWalk walk(raw); walk.next();) {
    std::string buffer;
    const auto text = decode_text(walk.quoted_key(), buffer);
    typename T::key_type key;
    std::string inside;
    auto decoded = parse_key(*text, key);
    if (decoded) {
      const auto [at, is_new] = out.try_emplace(std::move(key));
      decoded =
          is_new ? decode_value(walk.value(), at->second, inside) : wrong("it is there twice");
    }
    if (!decoded) {
      decoded.error().inside(*text);
      return decoded;
    }
    if (!inside.empty()) append_unknown(unknown, *text, inside);
  }
  return {};
}

// Decodes a raw value that is part of valid JSON.
template <class T>
Decoded decode_value(std::string_view raw, T& out, std::string& unknown) {
  if constexpr (is_optional<T>) {
    out.reset();
    return json_is_null(raw) ? Decoded{} : decode_value(raw, out.emplace(), unknown);
  } else if constexpr (std::same_as<T, RawJson>) {
    out.text.clear();
    append_json_raw(out.text, raw);  // in its output form: on one line
    return {};
  } else if constexpr (is_sequence<T>) {
    return decode_sequence(raw, out, unknown);
  } else if constexpr (is_map<T>) {
    return decode_map(raw, out, unknown);
  } else if constexpr (FieldStruct<T>) {
    return decode_struct(raw, out, unknown);
  } else if constexpr (StrongId<T>) {
    std::string buffer;
    const auto text = decode_text(raw, buffer);
    return text ? parse_key(*text, out) : Decoded(std::unexpected(text.error()));
  } else if constexpr (TextEnum<T>) {
    std::size_t index = 0;
    Decoded decoded = decode_name(raw, EnumText<T>::names, index);
    if (decoded) out = static_cast<T>(index);
    return decoded;
  } else {
    return decode_json(raw, out);
  }
}

// A struct and the rest of its object: the unknown members at their positions, empty if there are
// none. Those of an array's element are under its index: {"options":{"[2]":{…}}}.
template <class T>
struct WithUnknown {
  T value{};
  RawJson unknown;
};

// Any bytes: an error is invalid_argument and names the field.
template <FieldStruct T>
Result<WithUnknown<T>> decode_fields(std::string_view text) {
  TRY_VOID(json_validate(text));
  WithUnknown<T> out;
  std::string unknown;
  if (auto decoded = decode_struct(text, out.value, unknown); !decoded) {
    return std::unexpected(std::move(decoded).error().error());
  }
  if (!unknown.empty()) {
    close_json(unknown, '}');
    out.unknown.text = '{' + std::move(unknown);
  }
  return out;
}

// The object with the unknown members of a decode at their original positions.
std::string merge_unknown(std::string_view object, const RawJson& unknown);

}  // namespace perdure
