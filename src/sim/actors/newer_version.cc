#include "sim/actors/newer_version.h"

#include "base/check.h"
#include "core/wire/journal/record.h"

namespace perdure::sim {
namespace {

// An unknown kind, or a known kind with an unknown member.
std::string newer_record(std::uint64_t seq, const Hash& prev, Timestamp at, Prng& prng) {
  if (prng.chance(500'000)) {
    const UnknownEvent body{.kind = "session.pinned",
                            .members = {R"({"pinned_by":"uid:1","weight":[1,{"of":2.50}]})"}};
    return encode_record(seq, prev, {.at = at, .body = body});
  }
  const AgentUpdate body{.update = {R"({"sessionUpdate":"of_a_newer_version"})"}};
  return encode_record(seq, prev, {.at = at, .body = body}, {R"({"importance":"high"})"});
}

}  // namespace

std::vector<std::string> newer_records(std::string_view last, Timestamp at, Prng& prng) {
  const Result<DecodedRecord> decoded = decode_record(last);
  CHECK(decoded.has_value(), "a durable record cannot be read");
  std::vector<std::string> records;
  std::uint64_t seq = decoded->record.seq;
  Hash prev = chain_hash(*decoded, last);
  for (std::uint64_t left = 1 + prng.below(3); left > 0; --left) {
    records.push_back(newer_record(++seq, prev, at, prng));
    prev = record_hash(records.back());
  }
  return records;
}

}  // namespace perdure::sim
