// Journal records as bytes: one JSON object on one line, chained by hash
// (docs/protocol/journal.md). Stored bytes are never changed or re-encoded, and members that this
// version does not know are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/result.h"
#include "core/session/events.h"

namespace perdure {

// The format that is written. Older ones are read, newer ones are rejected.
inline constexpr std::int64_t record_version = 1;
// The format of a tombstone that keeps what the state is folded from. A version that knows only
// plain tombstones would compute a wrong state, so it has to reject such a record.
inline constexpr std::int64_t kept_tombstone_version = 2;

struct DecodedRecord {
  std::int64_t version = record_version;
  Hash prev;  // all zero: the first record, or format 0
  Record record;
  RawJson extra;  // an object with the members unknown to this version; may be empty
  // Of a tombstone: the hash of the replaced record. The event is what it keeps of that one.
  std::optional<Hash> redacted;
  bool operator==(const DecodedRecord&) const = default;
};

// The bytes to store. `prev` is the previous record's chain_hash, all zero for the first. RawJson
// in the event must be valid JSON. The event of a tombstone, with a null origin, gives a tombstone
// at this position.
std::string encode_record(std::uint64_t seq, const Hash& prev, const Event& event);
// The same with the unknown members of a decode at their original positions.
std::string encode_record(std::uint64_t seq, const Hash& prev, const Event& event,
                          const RawJson& extra);

// Accepts any bytes. format_too_new for a later version; limit_reached beyond record_bytes_max;
// invalid_argument, naming the field, for anything else that is not a record.
Result<DecodedRecord> decode_record(std::string_view bytes);

// A record's time and kind. For records of this version only the beginning is read; others are
// decoded by decode_record, with its errors.
struct RecordGlance {
  Timestamp at;
  std::string kind;
};
Result<RecordGlance> glance_at_record(std::string_view bytes);

// SHA-256 of the stored bytes.
Hash record_hash(std::string_view bytes);
// The next record's `prev`: the hash of these bytes, or of those that a tombstone replaced.
Hash chain_hash(const DecodedRecord& decoded, std::string_view bytes);
// The same for the result of encode_record() for this event.
Hash chain_hash(const Event& event, std::string_view bytes);

// The replacement for a redacted record: its number, time and links, without its content. A
// tombstone is returned unchanged. Errors as decode_record.
Result<std::string> encode_tombstone(std::string_view bytes);
// The same with what the state needs of the record: its event without its text. invalid_argument
// for a record of format 0, whose tombstone has no room for that.
Result<std::string> encode_tombstone(std::string_view bytes, const EventBody& kept);

// Verifies a journal record by record: consecutive numbers (J1), each record with the hash of the
// previous one (J2). Records of format 0 have no hash and may skip numbers; none may follow a
// record of format 1.
class ChainVerifier {
 public:
  ChainVerifier() = default;
  // Continues after a record that is known to be good.
  ChainVerifier(std::uint64_t seq, const Hash& hash)
      : seq_(seq), hash_(hash), version_(record_version) {}

  // `damaged` if the bytes are not a record or do not follow; format_too_new is passed on. After an
  // error the verifier's position is unchanged.
  Result<DecodedRecord> add(std::string_view bytes);

  std::uint64_t seq() const { return seq_; }  // of the last good record; 0 before the first
  const Hash& hash() const { return hash_; }  // its chain_hash: the next `prev`

 private:
  std::uint64_t seq_ = 0;
  Hash hash_;
  std::int64_t version_ = 0;
};

// Verifies a whole journal from its first record.
Result<> verify_chain(std::span<const std::string> records);

// The older vocabulary, which served records carry.
enum class RecordType {
  user_message,
  agent_message,
  thought,
  tool_call,
  tool_result,
  plan,
  permission,
  usage,
  system,
  done,
  error,
  session_stopped
};
ENUM_TEXT(RecordType, "user_message", "agent_message", "thought", "tool_call", "tool_result",
          "plan", "permission", "usage", "system", "done", "error", "session_stopped");

RecordType record_type(const Event& event);

// The record as clients see it: the stored members after `id` (`<session>/<seq>`) and `type`. A
// record of format 0 is served in the current format. Errors as decode_record.
Result<std::string> encode_served(SessionId session, std::string_view bytes);

// Every kind that this version knows, in the order of EventBody.
std::span<const std::string_view> record_kinds();

}  // namespace perdure
