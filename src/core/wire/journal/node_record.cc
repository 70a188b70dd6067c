#include "core/wire/journal/node_record.h"

#include <utility>

#include "base/check.h"
#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/session/events.h"
#include "core/wire/envelope.h"

namespace perdure {
namespace {

Result<std::int64_t> read_version(Members& members) {
  const auto version = json_int(members.take("v"));
  if (!version || *version < 1) return fail(Code::invalid_argument, "v: expected a format version");
  if (*version <= node_tombstone_version) return *version;
  return fail(Code::format_too_new, "the record has format " + std::to_string(*version) +
                                        ", this version reads up to " +
                                        std::to_string(node_tombstone_version));
}

RawJson rest_of(Members& members) {
  std::string rest;
  members.append_rest(rest);
  if (!rest.empty()) rest.pop_back();  // the comma behind the last member
  return {"{" + std::move(rest) + "}"};
}

void append_head(std::string& out, const NodeRecord& record, std::string_view kind) {
  out += "\"seq\":";
  append_json(out, record.seq);
  out += ",\"ts\":\"";
  append_timestamp(out, record.at);
  out += "\",\"kind\":";
  json_append_string(out, kind);
  out += ",\"prev\":\"";
  record.prev.append_hex(out);
  out += '"';
}

std::string encode_tombstone(const NodeRecord& record, const Hash& original) {
  std::string out = "{\"v\":2,";
  static_assert(node_tombstone_version == 2);
  append_head(out, record, redacted_kind);
  out += ",\"hash\":\"" + original.hex() + "\",\"kept\":{\"kind\":";
  json_append_string(out, record.kind);
  if (record.fields.text.size() > 2) out += ',';
  return out + record.fields.text.substr(1) + "}";
}

// Nothing vouches for a tombstone's own bytes but their form.
Decoded decode_tombstone(Members& members, std::string_view bytes, NodeRecord& out) {
  if (out.kind != redacted_kind)
    return std::unexpected(FieldError{"kind", "it is not a tombstone"});
  if (auto d = take_required(members, "hash", out.redacted.emplace()); !d) return d;
  Members kept;
  if (auto d = kept.read(members.take("kept")); !d) return d;
  if (auto d = take_required(kept, "kind", out.kind); !d) return d;
  out.fields = rest_of(kept);
  if (encode_tombstone(out, *out.redacted) == bytes) return {};
  return std::unexpected(FieldError{"kept", "the tombstone is malformed"});
}

}  // namespace

std::string encode_node_record(const NodeRecord& record) {
  const std::string_view fields = record.fields.text;
  CHECK(fields.starts_with('{') && fields.ends_with('}'), "a record's fields are an object");
  std::string out = "{\"v\":1,";
  static_assert(node_record_version == 1);
  append_head(out, record, record.kind);
  if (fields.size() > 2) out += ',';
  out += fields.substr(1);
  return out;
}

Result<NodeRecord> decode_node_record(std::string_view bytes) {
  if (bytes.size() > record_bytes_max) {
    return fail(Code::limit_reached,
                "a record has at most " + std::to_string(record_bytes_max) + " bytes");
  }
  TRY_VOID(json_validate(bytes));
  Members members;
  if (auto d = members.read(bytes); !d) return std::unexpected(std::move(d).error().error());
  const std::int64_t version = TRY(read_version(members));
  NodeRecord out;
  if (auto d = decode_envelope(members, out); !d) {
    return std::unexpected(std::move(d).error().error());
  }
  if (version < node_tombstone_version) {
    out.fields = rest_of(members);
    return out;
  }
  if (auto d = decode_tombstone(members, bytes, out); !d) {
    return std::unexpected(std::move(d).error().error());
  }
  return out;
}

Result<std::string> encode_node_tombstone(std::string_view bytes, const RawJson& fields) {
  NodeRecord record = TRY(decode_node_record(bytes));
  record.fields = fields;
  return encode_tombstone(record, node_chain_hash(record, bytes));
}

Hash node_chain_hash(const NodeRecord& record, std::string_view bytes) {
  return record.redacted ? *record.redacted : sha256(bytes);
}

Result<NodeRecord> NodeChain::add(std::string_view bytes) {
  const auto damaged = [&](std::string_view what) {
    return fail(Code::damaged,
                "node record " + std::to_string(seq_ + 1) + ": " + std::string(what));
  };
  Result<NodeRecord> record = decode_node_record(bytes);
  if (!record) {
    if (record.error().code() == Code::format_too_new) return record;
    return damaged(record.error().message());
  }
  if (record->seq != seq_ + 1) return damaged("it has the number " + std::to_string(record->seq));
  if (record->prev != hash_) return damaged("it does not follow the record before it");
  seq_ = record->seq;
  hash_ = node_chain_hash(*record, bytes);
  return record;
}

}  // namespace perdure
