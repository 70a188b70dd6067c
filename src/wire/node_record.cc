#include "wire/node_record.h"

#include <utility>

#include "base/check.h"
#include "base/fields_json.h"
#include "base/limits.h"
#include "wire/envelope.h"

namespace perdure {
namespace {

Result<> check_version(Members& members) {
  const auto version = json_int(members.take("v"));
  if (!version || *version < 1) return fail(Code::invalid_argument, "v: expected a format version");
  if (*version <= node_record_version) return {};
  return fail(Code::format_too_new, "the record has format " + std::to_string(*version) +
                                        ", this version reads up to " +
                                        std::to_string(node_record_version));
}

}  // namespace

std::string encode_node_record(const NodeRecord& record) {
  const std::string_view fields = record.fields.text;
  CHECK(fields.starts_with('{') && fields.ends_with('}'), "a record's fields are an object");
  std::string out = "{\"v\":1,\"seq\":";
  static_assert(node_record_version == 1);
  append_json(out, record.seq);
  out += ",\"ts\":\"";
  append_timestamp(out, record.at);
  out += "\",\"kind\":";
  json_append_string(out, record.kind);
  out += ",\"prev\":\"";
  record.prev.append_hex(out);
  out += '"';
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
  TRY_VOID(check_version(members));
  NodeRecord out;
  if (auto d = decode_envelope(members, out); !d) {
    return std::unexpected(std::move(d).error().error());
  }
  std::string rest;
  members.append_rest(rest);
  if (!rest.empty()) rest.pop_back();  // the comma after the last member
  out.fields.text = "{" + std::move(rest) + "}";
  return out;
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
  hash_ = sha256(bytes);
  return record;
}

}  // namespace perdure
