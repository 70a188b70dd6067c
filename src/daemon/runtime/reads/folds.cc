#include "daemon/runtime/reads/folds.h"

#include <algorithm>

#include "base/limits.h"
#include "core/wire/journal/record.h"

namespace perdure {

Result<> SizeFold::add(Seq, std::string_view bytes) {
  bytes_ += bytes.size();
  constexpr std::string_view reference = R"("update":{"blob":")";
  const std::size_t at = bytes.find(reference);
  if (at == std::string_view::npos) return {};
  // The reference written for a blob: {"blob":"<hash>","bytes":N}.
  const std::string_view rest = bytes.substr(at + std::string_view(R"("update":)").size());
  const std::size_t end = rest.find('}');
  const Result<JsonObject> object = JsonObject::parse(rest.substr(0, end + 1));
  if (!object) return {};
  const bool is_new = blobs_.emplace(object->find("blob")).second;
  if (is_new) blob_bytes_ += json_uint(object->find("bytes")).value_or(0);
  return {};
}

Result<> BlobFold::add(Seq, std::string_view bytes) {
  found_ = found_ || bytes.contains(wanted_);
  return {};
}

Result<> TextFold::add(Seq, std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ > whole_text_bytes_max) {
    return fail(Code::limit_reached, "the session is too long to be given as one text; read pages");
  }
  const DecodedRecord decoded = TRY(decode_record(bytes));
  if (auto answer = question_answer(decoded.record)) answers_.push_back(std::move(*answer));
  transcript_.add(decoded.record);
  return {};
}

}  // namespace perdure
