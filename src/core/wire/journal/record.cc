// The record format, its chain, and records as served. Bytes are validated once and then read as
// slices; members that no field takes are the unknown ones.
#include "core/wire/journal/record.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/wire/envelope.h"
#include "core/wire/journal/record_v0.h"

namespace perdure {
namespace {

constexpr std::size_t known_kinds = EventBody::size - 1;  // the last is UnknownEvent
static_assert(std::is_same_v<EventBody::Kind<known_kinds>, UnknownEvent>);

using DecodeBody = Decoded (*)(Members&, EventBody&, std::string& unknown);

struct KnownKind {
  std::string_view text;
  DecodeBody decode;
};

template <class Body>
Decoded decode_body(Members& members, EventBody& out, std::string& unknown) {
  return decode_members(members, out.emplace<Body>(), unknown);
}

constexpr auto kinds_in_order = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{KnownKind{EventBody::Kind<I>::kind_text, &decode_body<EventBody::Kind<I>>}...};
}(std::make_index_sequence<known_kinds>());

constexpr auto kinds_by_text = [] {
  auto kinds = kinds_in_order;
  std::ranges::sort(kinds, {}, &KnownKind::text);
  return kinds;
}();
static_assert(std::ranges::adjacent_find(kinds_by_text, {}, &KnownKind::text) ==
              kinds_by_text.end());

DecodeBody find_kind(std::string_view text) {
  const auto at = std::ranges::lower_bound(kinds_by_text, text, {}, &KnownKind::text);
  return at != kinds_by_text.end() && at->text == text ? at->decode : nullptr;
}

// The members of every record. A null Origin field is omitted.
struct Envelope {
  std::int64_t version = record_version;
  std::uint64_t seq = 0;
  Timestamp at;
  std::string kind;
  Hash prev;
};

bool is_envelope_name(std::string_view name) {
  constexpr std::array names{"v",      "seq",     "ts",  "kind",  "prev",
                             "run_id", "exec_id", "gen", "frame", "after_run"};
  return std::ranges::find(names, name) != names.end();
}

void append_envelope(std::string& out, std::uint64_t seq, const Hash& prev, const Event& event) {
  out += "\"v\":1,\"seq\":";
  static_assert(record_version == 1);
  append_json(out, seq);
  out += ",\"ts\":\"";
  append_timestamp(out, event.at);
  out += "\",\"kind\":";
  json_append_string(out, event_kind(event));
  out += ",\"prev\":\"";
  prev.append_hex(out);
  out += "\",";
  append_members(out, event.origin);
}

void append_body(std::string& out, const UnknownEvent& body) {
  std::string buffer;
  for (JsonWalk walk(body.members.text); walk.next();) {
    if (is_envelope_name(*decode_text(walk.quoted_key(), buffer))) continue;
    out += walk.quoted_key();
    out += ':';
    append_json_raw(out, walk.value());
    out += ',';
  }
}
void append_body(std::string& out, const auto& body) { append_members(out, body); }

RawJson as_object(std::string members) {
  if (members.empty()) return {};
  close_json(members, '}');
  return RawJson{'{' + std::move(members)};
}

// The part of the replaced event that a tombstone keeps.
Decoded decode_kept(std::string_view raw, Event& event) {
  Members members;
  if (auto d = members.read(raw); !d) return d;
  std::string kind;
  if (auto d = take_required(members, "kind", kind); !d) return d;
  std::string unknown;
  if (auto d = decode_members(members, event.origin, unknown); !d) return d;
  if (const DecodeBody decode = find_kind(kind)) return decode(members, event.body, unknown);
  event.body = UnknownEvent{std::move(kind), {}};
  return {};
}

Decoded decode_tombstone(Members& members, std::string_view kept, DecodedRecord& out) {
  if (auto d = take_required(members, "hash", out.redacted.emplace()); !d) return d;
  if (kept.empty()) return std::unexpected(FieldError{"kept", "it is missing"});
  std::string unknown;
  members.append_rest(unknown);
  out.extra = as_object(std::move(unknown));
  Decoded decoded = decode_kept(kept, out.record.event);
  if (!decoded) decoded.error().inside("kept");
  return decoded;
}

// Everything after `v`.
Decoded decode_v1(Members& members, DecodedRecord& out) {
  Envelope envelope;
  if (auto d = decode_envelope(members, envelope); !d) return d;
  out.prev = envelope.prev;
  out.record.seq = envelope.seq;
  Event& event = out.record.event;
  event.at = envelope.at;
  if (out.version == kept_tombstone_version) {
    return decode_tombstone(members, members.take("kept"), out);
  }
  std::string unknown;
  if (auto d = decode_members(members, event.origin, unknown); !d) return d;
  if (const DecodeBody decode = find_kind(envelope.kind)) {
    if (auto d = decode(members, event.body, unknown); !d) return d;
    members.append_rest(unknown);
    out.extra = as_object(std::move(unknown));
    return {};
  }
  members.append_rest(unknown);
  if (envelope.kind == redacted_kind) {
    if (auto d = take_required(members, "hash", out.redacted.emplace()); !d) return d;
  }
  event.body = UnknownEvent{std::move(envelope.kind), as_object(std::move(unknown))};
  return {};
}

Result<> check_size(std::string_view bytes) {
  if (bytes.size() <= record_bytes_max) return {};
  return fail(Code::limit_reached,
              "a record has at most " + std::to_string(record_bytes_max) + " bytes");
}

std::unexpected<Error> too_new(std::int64_t version) {
  return fail(Code::format_too_new, "the record has format " + std::to_string(version) +
                                        ", this version reads up to " +
                                        std::to_string(record_version));
}

// Reads `v`. Without it, this is format 0 or not a record at all.
Result<std::int64_t> decode_version(Members& members) {
  const std::string_view raw = members.take("v");
  if (raw.empty()) return 0;
  const auto version = json_int(raw);
  if (!version || *version < 1) return fail(Code::invalid_argument, "v: expected a format version");
  if (*version > kept_tombstone_version) return too_new(*version);
  return *version;
}

bool is_tombstone(std::string_view bytes) {
  const Result<JsonObject> object = JsonObject::parse(bytes);
  return object && object->find("kind") == "\"redacted\"";
}

// A tombstone up to its hash.
std::string render_tombstone_head(const DecodedRecord& record, const Hash& original) {
  std::string out = "{";
  if (record.version > 0) out += "\"v\":" + std::to_string(record.version) + ",";
  out += "\"seq\":" + std::to_string(record.record.seq) + ",\"ts\":\"";
  append_timestamp(out, record.record.event.at);
  out += "\",\"kind\":\"redacted\",";
  if (record.version > 0) out += "\"prev\":\"" + record.prev.hex() + "\",";
  return out + "\"hash\":\"" + original.hex() + "\"";
}

constexpr std::string_view kept_begin = ",\"kept\":{\"kind\":\"";

// A tombstone's own bytes are not covered by a hash; only their form is checked.
bool has_tombstone_form(const DecodedRecord& record, std::string_view bytes) {
  const std::string head = render_tombstone_head(record, *record.redacted);
  if (record.version != kept_tombstone_version) return bytes == head + "}";
  return bytes.starts_with(head + std::string(kept_begin)) && bytes.ends_with("}}") &&
         record.extra.text.empty();
}

struct TypeOfKind {
  std::string_view kind;
  RecordType type;
};
// Kinds not listed here are `system`.
constexpr auto types = std::to_array<TypeOfKind>({
    {"message.user", RecordType::user_message},
    {"message.agent", RecordType::agent_message},
    {"message.thought", RecordType::thought},
    {"tool.call", RecordType::tool_call},
    {"tool.update", RecordType::tool_call},
    {"repair.closed_tool", RecordType::tool_result},
    {"plan", RecordType::plan},
    {"permission.requested", RecordType::permission},
    {"permission.resolved", RecordType::permission},
    {"usage", RecordType::usage},
    {"run.completed", RecordType::done},
    {"run.cancelled", RecordType::done},
    {"run.failed", RecordType::error},
    {"run.interrupted", RecordType::error},
    {"executor.error", RecordType::error},
    {"resume.failed", RecordType::error},
    {"session.stopped", RecordType::session_stopped},
});

RecordType type_of(std::string_view kind, std::string_view status) {
  if (kind == "tool.update" &&
      (status == "completed" || status == "failed" || status == "cancelled")) {
    return RecordType::tool_result;
  }
  const auto at = std::ranges::find(types, kind, &TypeOfKind::kind);
  return at == types.end() ? RecordType::system : at->type;
}

// Puts `id` and `type` before the members of a record that is valid JSON.
Result<std::string> splice_served(SessionId session, std::string_view bytes, Members& members) {
  std::uint64_t seq = 0;
  std::string kind;
  if (auto d = take_required(members, "seq", seq); !d)
    return std::unexpected(std::move(d).error().error());
  if (auto d = take_required(members, "kind", kind); !d)
    return std::unexpected(std::move(d).error().error());
  std::string buffer;
  const auto status = decode_text(members.take("status"), buffer);
  std::string out;
  out.reserve(bytes.size() + 96);
  out += '{';
  if (members.take("id").empty()) {
    out += "\"id\":\"";
    session.append_to(out);
    out += '/';
    append_json(out, seq);
    out += "\",";
  }
  if (members.take("type").empty()) {
    out += "\"type\":\"";
    out += enum_text(type_of(kind, status.value_or(std::string_view())));
    out += "\",";
  }
  out += bytes.substr(bytes.find('{') + 1);
  return out;
}

}  // namespace

std::string encode_record(std::uint64_t seq, const Hash& prev, const Event& event) {
  std::string out;
  out.reserve(512);
  out += '{';
  append_envelope(out, seq, prev, event);
  visit([&](const auto& body) { append_body(out, body); }, event.body);
  close_json(out, '}');
  return out;
}

std::string encode_record(std::uint64_t seq, const Hash& prev, const Event& event,
                          const RawJson& extra) {
  std::string out = encode_record(seq, prev, event);
  return extra.text.empty() ? out : merge_unknown(out, extra);
}

Result<DecodedRecord> decode_record(std::string_view bytes) {
  TRY_VOID(check_size(bytes));
  TRY_VOID(json_validate(bytes));
  Members members;
  if (auto d = members.read(bytes); !d) return std::unexpected(std::move(d).error().error());
  DecodedRecord out;
  out.version = TRY(decode_version(members));
  if (out.version == 0) return decode_record_v0(bytes);
  // This version writes only tombstones in that format, so a later version wrote this.
  if (out.version == kept_tombstone_version && !is_tombstone(bytes)) return too_new(out.version);
  if (auto d = decode_v1(members, out); !d) return std::unexpected(std::move(d).error().error());
  return out;
}

Result<RecordGlance> glance_at_record(std::string_view bytes) {
  constexpr std::string_view begin = R"({"v":1,"seq":)";
  constexpr std::string_view time = R"(,"ts":")";
  constexpr std::string_view kind = R"(","kind":")";
  constexpr std::size_t time_size = std::string_view("2026-11-15T20:00:00.000Z").size();
  std::string_view rest = bytes.substr(0, 160);
  if (rest.starts_with(begin)) {
    rest.remove_prefix(begin.size());
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
    const std::size_t kind_at = time.size() + time_size;
    if (rest.starts_with(time) && rest.size() > kind_at && rest.substr(kind_at).starts_with(kind)) {
      const Result<Timestamp> at = parse_timestamp(rest.substr(time.size(), time_size));
      rest.remove_prefix(kind_at + kind.size());
      const std::size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz._");
      if (at && end != std::string_view::npos && rest[end] == '"') {
        return RecordGlance{*at, std::string(rest.substr(0, end))};
      }
    }
  }
  const DecodedRecord decoded = TRY(decode_record(bytes));
  return RecordGlance{
      decoded.record.event.at,
      std::string(decoded.redacted ? redacted_kind : event_kind(decoded.record.event))};
}

Hash record_hash(std::string_view bytes) { return sha256(bytes); }

Hash chain_hash(const DecodedRecord& decoded, std::string_view bytes) {
  return decoded.redacted ? *decoded.redacted : record_hash(bytes);
}

Hash chain_hash(const Event& event, std::string_view bytes) {
  if (event_kind(event) != redacted_kind) return record_hash(bytes);
  const Result<DecodedRecord> decoded = decode_record(bytes);
  CHECK(decoded.has_value());
  return chain_hash(*decoded, bytes);
}

Result<std::string> encode_tombstone(std::string_view bytes) {
  const DecodedRecord decoded = TRY(decode_record(bytes));
  if (decoded.redacted) return std::string(bytes);
  return render_tombstone_head(decoded, record_hash(bytes)) + "}";
}

Result<std::string> encode_tombstone(std::string_view bytes, const EventBody& kept) {
  DecodedRecord decoded = TRY(decode_record(bytes));
  if (decoded.redacted) return std::string(bytes);
  if (decoded.version == 0) {
    return fail(Code::invalid_argument, "a record of format 0 cannot be redacted in part");
  }
  decoded.version = kept_tombstone_version;
  std::string out = render_tombstone_head(decoded, record_hash(bytes));
  out += ",\"kept\":{\"kind\":";
  json_append_string(out, event_kind({.at = {}, .origin = {}, .body = kept}));
  out += ',';
  append_members(out, decoded.record.event.origin);
  visit([&](const auto& body) { append_body(out, body); }, kept);
  close_json(out, '}');
  return out + "}";
}

Result<DecodedRecord> ChainVerifier::add(std::string_view bytes) {
  const auto damaged = [&](std::string_view what) {
    return fail(Code::damaged, "record " + std::to_string(seq_ + 1) + ": " + std::string(what));
  };
  auto decoded = decode_record(bytes);
  if (!decoded) {
    if (decoded.error().code() == Code::format_too_new) return decoded;
    return damaged(decoded.error().message());
  }
  const std::uint64_t seq = decoded->record.seq;
  if (decoded->version == 0 ? version_ > 0 || seq <= seq_ : seq != seq_ + 1) {
    return damaged("it has the number " + std::to_string(seq));
  }
  if (decoded->version > 0 && decoded->prev != hash_) {
    return damaged("it does not follow the record before it");
  }
  if (decoded->redacted && !has_tombstone_form(*decoded, bytes)) {
    return damaged("the tombstone is malformed");
  }
  seq_ = seq;
  hash_ = chain_hash(*decoded, bytes);
  version_ = decoded->version;
  return decoded;
}

Result<> verify_chain(std::span<const std::string> records) {
  ChainVerifier verifier;
  for (const std::string& record : records) TRY_VOID(verifier.add(record));
  return {};
}

RecordType record_type(const Event& event) {
  const auto* update = get_if<ToolUpdate>(&event.body);
  return type_of(event_kind(event), update ? std::string_view(update->status) : std::string_view());
}

Result<std::string> encode_served(SessionId session, std::string_view bytes) {
  TRY_VOID(check_size(bytes));
  TRY_VOID(json_validate(bytes));
  Members members;
  if (auto d = members.read(bytes); !d) return std::unexpected(std::move(d).error().error());
  if (TRY(decode_version(members)) > 0) return splice_served(session, bytes, members);
  const DecodedRecord old = TRY(decode_record_v0(bytes));
  const std::string present = encode_record(old.record.seq, old.prev, old.record.event, old.extra);
  return encode_served(session, present);
}

std::span<const std::string_view> record_kinds() {
  static constexpr auto texts = [] {
    std::array<std::string_view, known_kinds> out;
    std::ranges::transform(kinds_in_order, out.begin(), &KnownKind::text);
    return out;
  }();
  return texts;
}

}  // namespace perdure
