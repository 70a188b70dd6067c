#include "store/append_check.h"

#include <set>
#include <string>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/limits.h"

namespace perdure {

std::size_t weight_bytes(const Append& batch) {
  std::size_t bytes = 64;
  for (const std::string& record : batch.records) bytes += record.size() + 32;
  for (const OutboxRow& row : batch.outbox_add) bytes += row.payload.size();
  for (const Blob& blob : batch.blobs) bytes += blob.bytes.size();
  bytes += batch.blob_refs.size() * sizeof(Hash);
  if (batch.snapshot) bytes += batch.snapshot->size();
  return bytes;
}

Result<> check_batch(const Append& batch) {
  if (batch.session.is_null()) return fail(Code::invalid_argument, "an append needs a session");
  for (const std::string& record : batch.records) {
    if (record.size() > record_bytes_max) {
      return fail(Code::invalid_argument, "a record has " + std::to_string(record.size()) +
                                              " bytes, more than " +
                                              std::to_string(record_bytes_max));
    }
  }
  if (const std::size_t bytes = weight_bytes(batch); bytes > append_bytes_max) {
    return fail(Code::invalid_argument, "an append has " + std::to_string(bytes) +
                                            " bytes, more than " +
                                            std::to_string(append_bytes_max));
  }
  for (const Blob& blob : batch.blobs) {
    if (sha256(blob.bytes) != blob.hash) {
      return fail(Code::invalid_argument, "a blob's hash is not that of its bytes");
    }
  }
  std::set<std::string_view> keys;
  for (const StoredAnswer& answer : batch.answers) {
    if (!keys.insert(answer.key).second) {
      return fail(Code::invalid_argument, "an append has two answers with one key");
    }
  }
  return {};
}

}  // namespace perdure
