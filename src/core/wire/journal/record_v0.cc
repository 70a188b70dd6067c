// Converts a record of format 0 to format 1, member by member according to the schema's types, and
// passes it to the current decoder, so that only one place defines what a record means.
#include "core/wire/journal/record_v0.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes/hash.h"
#include "base/json/fields_json.h"
#include "base/time.h"
#include "core/wire/journal/schema.h"

namespace perdure {
namespace {

// A member being converted to the current format.
struct Mapped {
  std::string name;
  std::string value;     // raw JSON; empty: omitted
  bool changed = false;  // the original is kept under "v0"
};

std::string quoted(std::string_view text) {
  std::string out;
  json_append_string(out, text);
  return out;
}

// Format 0 has whole seconds; fractions of any length are cut to milliseconds.
Result<Timestamp> parse_old_timestamp(std::string_view text) {
  if (text.size() < 20 || !text.ends_with('Z')) return parse_timestamp(text);
  std::string fraction(text.substr(19, text.size() - 20));
  const bool digits =
      std::ranges::all_of(fraction.substr(std::min<std::size_t>(1, fraction.size())),
                          [](char c) { return c >= '0' && c <= '9'; });
  if (!fraction.empty() && (fraction.front() != '.' || fraction.size() < 2 || !digits)) {
    return parse_timestamp(text);
  }
  fraction.resize(4, '0');
  fraction.front() = '.';
  return parse_timestamp(std::string(text.substr(0, 19)) + fraction + "Z");
}

// `prefix` includes its underscore. Perdure's own ids stay unchanged.
std::string map_id(std::string_view prefix, std::string_view text) {
  if (text.starts_with(prefix) && Ulid::parse(text.substr(prefix.size()))) return quoted(text);
  return quoted(std::string(prefix) + foreign_ulid(text).text());
}

// A plain time becomes a deadline on the wall clock, starting at the record's own time.
Result<std::string> map_deadline(std::string_view text, Timestamp record_at) {
  Deadline deadline;
  deadline.wall = TRY(parse_old_timestamp(text));
  deadline.granted_ms = std::max<std::int64_t>(0, deadline.wall.ms - record_at.ms);
  return encode_fields(deadline);
}

// Replaces a text that the enum does not have; nullptr if no replacement exists.
const char* enum_fallback(std::string_view name) {
  if (name == "wait_kind") return "input";
  if (name == "reason") return "process_exit";
  return nullptr;
}

bool enum_has(std::string_view type, std::string_view text) {
  while (!type.empty()) {
    const std::size_t end = std::min(type.find(" | "), type.size());
    if (type.substr(0, end) == text) return true;
    type.remove_prefix(std::min(end + 3, type.size()));
  }
  return false;
}

// Converts a text member to the field's type.
Result<> map_text(const FieldSchema& field, std::string_view text, Timestamp record_at,
                  Mapped& out) {
  const std::string_view type = field.type;
  if (type.ends_with(" id")) {
    out.value = map_id(type.substr(0, type.size() - 3), text);
  } else if (type == "time") {
    out.value = quoted(format_timestamp(TRY(parse_old_timestamp(text))));
  } else if (type == "deadline") {
    out.value = TRY(map_deadline(text, record_at));
  } else if (type == "hash" && !Hash::parse_hex(text)) {
    out.value.clear();
  } else if (type.contains(" | ") && !enum_has(type, text)) {
    if (const char* fallback = enum_fallback(field.name)) out.value = quoted(fallback);
  }
  return {};
}

// Names that differ in format 0.
std::string present_name(std::string_view kind, std::string_view name, std::string_view raw) {
  if (kind == "run.waiting" && name == "deadline_at") return "deadline";
  if (kind == "token.minted" && name == "expires_at") return "expires";
  const bool is_prompt = kind == "message.user" || kind == "queue.added";
  if (is_prompt && name == "content" && raw.starts_with('[')) return "blocks";
  return std::string(name);
}

struct OldRecord {
  std::string kind;
  const KindSchema* schema = nullptr;  // null: an unknown kind
  Timestamp at;
};

Result<Mapped> map_member(const OldRecord& record, std::string_view name, std::string_view raw) {
  Mapped out{present_name(record.kind, name, raw), std::string(raw), false};
  const FieldSchema* field = origin_schema().find(out.name);
  if (!field && record.schema) field = record.schema->find(out.name);
  if (!field) return out;
  if (json_is_null(raw)) {
    out.value.clear();
  } else if (raw.starts_with('"')) {
    const std::string text = TRY(json_string(raw));
    if (auto mapped = map_text(*field, text, record.at, out); !mapped) {
      return std::unexpected(std::move(mapped).error().with_context(name));
    }
  }
  out.changed = out.value != raw;
  return out;
}

// The record's text in format 1, with the originals of the changed members.
Result<std::string> upgrade(const JsonObject& old) {
  if (!old.find("prev").empty()) return fail(Code::invalid_argument, "v: it is missing");
  for (const std::string_view name : {"seq", "ts", "kind"}) {
    if (old.find(name).empty())
      return fail(Code::invalid_argument, std::string(name) + ": it is missing");
  }
  OldRecord record;
  record.kind = TRY(json_string(old.find("kind")));
  record.schema = find_kind_schema(record.kind);
  const std::string ts = TRY(json_string(old.find("ts")));
  record.at = TRY(parse_old_timestamp(ts));
  std::string out = "{\"v\":1,\"seq\":" + std::string(old.find("seq")) +
                    ",\"ts\":" + quoted(format_timestamp(record.at)) +
                    ",\"kind\":" + quoted(record.kind) + ",\"prev\":\"" + Hash{}.hex() + "\",";
  std::string originals;
  for (const auto& [name, raw] : old.members()) {
    if (name == "seq" || name == "ts" || name == "kind") continue;
    const Mapped member = TRY(map_member(record, name, raw));
    if (!member.value.empty()) out += quoted(member.name) + ":" + member.value + ",";
    if (member.changed) originals += quoted(name) + ":" + std::string(raw) + ",";
  }
  if (!originals.empty() && old.find("v0").empty()) {
    close_json(originals, '}');
    out += "\"v0\":{" + originals + ",";
  }
  close_json(out, '}');
  return out;
}

}  // namespace

Ulid foreign_ulid(std::string_view text) {
  const Hash hash = sha256(text);
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  for (std::size_t i = 0; i < 2; ++i) high = high << 8U | hash.bytes[i];
  for (std::size_t i = 2; i < 10; ++i) low = low << 8U | hash.bytes[i];
  return Ulid::make(Timestamp{0}, high, low);
}

Result<DecodedRecord> decode_record_v0(std::string_view bytes) {
  const JsonObject old = TRY(JsonObject::parse(bytes));
  const std::string present = TRY(upgrade(old));
  DecodedRecord out = TRY(decode_record(present));
  out.version = 0;
  return out;
}

}  // namespace perdure
