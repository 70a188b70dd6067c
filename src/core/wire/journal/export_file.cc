#include "core/wire/journal/export_file.h"

#include "base/bytes/base64.h"
#include "base/json/fields_json.h"

namespace perdure {

Hash export_sum(const Hash& before, std::string_view line) {
  return sha256(before.hex() + std::string(line));
}

std::string ExportLines::summed(std::string line) {
  sum_ = export_sum(sum_, line);
  line += '\n';
  return line;
}

std::string ExportLines::head(const ExportHead& head) { return summed(encode_fields(head)); }

std::string ExportLines::record(std::string_view bytes) {
  JsonWriter json;
  json.begin_object().key("record").raw(bytes).end_object();
  records_ += 1;
  return summed(std::move(json).take());
}

std::string ExportLines::blob(const Hash& hash, std::string_view bytes) {
  JsonWriter json;
  json.begin_object().key("blob").string(hash.hex());
  json.key("base64").string(base64_encode(bytes)).end_object();
  blobs_ += 1;
  return summed(std::move(json).take());
}

std::string ExportLines::end() const {
  JsonWriter json;
  json.begin_object().key("end").boolean(true).key("records").number_unsigned(records_);
  json.key("blobs").number_unsigned(blobs_).key("sha256").string(sum_.hex()).end_object();
  return json.text() + "\n";
}

SessionId adopted_session(const AdoptedName& name) {
  const Hash hash = sha256("adopt\n" + name.agent + "\n" + name.agent_session_id);
  Ulid ulid;
  for (std::size_t i = 0; i < 8; ++i) {
    ulid.high = ulid.high << 8 | hash.bytes[i];
    ulid.low = ulid.low << 8 | hash.bytes[8 + i];
  }
  return SessionId(ulid);
}

}  // namespace perdure
