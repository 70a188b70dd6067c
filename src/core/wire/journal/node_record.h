// Records of the node journal as bytes: the envelope and the chain of a session's records, without
// the members for runs and executions. The node defines the meaning of a kind's own fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"

namespace perdure {

// The format that is written. Newer ones are rejected.
inline constexpr std::int64_t node_record_version = 1;
// The format of a tombstone, as in a session's journal: a version that does not know tombstones
// must refuse the record.
inline constexpr std::int64_t node_tombstone_version = 2;

struct NodeRecord {
  std::uint64_t seq = 0;
  Timestamp at;
  std::string kind;
  Hash prev;       // of the previous record; all zero in the first
  RawJson fields;  // an object with the kind's own members
  // Of a tombstone: the hash of the record that it replaced. Kind and fields are what it keeps.
  std::optional<Hash> redacted = {};
  bool operator==(const NodeRecord&) const = default;
};

// The bytes to store. `fields` must be a valid object without members of the envelope's names.
std::string encode_node_record(const NodeRecord& record);

// What replaces a record whose text is redacted: the same with `fields` instead of its own. A
// tombstone is replaced by another one of the same record. The error is that of decode.
Result<std::string> encode_node_tombstone(std::string_view bytes, const RawJson& fields);
// What the next record's `prev` holds: the hash of these bytes, or of those a tombstone replaced.
Hash node_chain_hash(const NodeRecord& record, std::string_view bytes);

// Takes any bytes. format_too_new for a later version; limit_reached beyond record_bytes_max;
// invalid_argument, naming the field, for everything else that is no record.
Result<NodeRecord> decode_node_record(std::string_view bytes);

// Verifies a node journal record by record: consecutive numbers, each record with the hash of the
// previous one.
class NodeChain {
 public:
  NodeChain() = default;
  // Continues after a record that is known to be good.
  NodeChain(std::uint64_t seq, const Hash& hash) : seq_(seq), hash_(hash) {}

  // `damaged` if the bytes are not a record or do not follow; format_too_new is passed on. After an
  // error the chain's position is unchanged.
  Result<NodeRecord> add(std::string_view bytes);

  std::uint64_t seq() const { return seq_; }
  const Hash& hash() const { return hash_; }  // the next `prev`

 private:
  std::uint64_t seq_ = 0;
  Hash hash_;
};

}  // namespace perdure
