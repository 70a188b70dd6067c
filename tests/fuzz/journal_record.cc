// Any bytes given to the record decoder yield an error or a record that encodes and decodes without
// a difference; the chain detects every flipped bit.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/wire/journal/record.h"
#include "testing/random_fields.h"

namespace {

using namespace perdure;

void check_reads_back(const DecodedRecord& decoded) {
  const std::string written =
      encode_record(decoded.record.seq, decoded.prev, decoded.record.event, decoded.extra);
  const auto again = decode_record(written);
  CHECK(again.has_value());
  CHECK(again->record == decoded.record);
  CHECK(again->prev == decoded.prev);
  CHECK(encode_record(again->record.seq, again->prev, again->record.event, again->extra) ==
        written);
}

void check_bytes(std::string_view bytes) {
  const auto decoded = decode_record(bytes);
  const auto served = encode_served(SessionId(Ulid{1, 2}), bytes);
  const auto tombstone = encode_tombstone(bytes);
  CHECK(tombstone.has_value() == decoded.has_value());
  if (!decoded) return;
  CHECK(served.has_value() && json_validate(*served).has_value());
  check_reads_back(*decoded);
  const auto buried = decode_record(*tombstone);
  CHECK(buried.has_value());
  CHECK(chain_hash(*buried, *tombstone) == chain_hash(*decoded, bytes));
}

// The input as a seed: two chained records, one of them with a flipped bit.
void check_flip(std::uint64_t seed) {
  RandomFields random(seed, seed % 2 == 0 ? RandomFields::Fill::full : RandomFields::Fill::some);
  std::string first = encode_record(1, Hash{}, random.make_event(random.below(EventBody::size)));
  const std::string second =
      encode_record(2, record_hash(first), random.make_event(random.below(EventBody::size)));
  CHECK(verify_chain(std::vector{first, second}).has_value());
  const std::uint64_t bit = random.below(first.size() * 8);
  first[bit / 8] = static_cast<char>(first[bit / 8] ^ (1 << bit % 8));
  CHECK(!verify_chain(std::vector{first, second}).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_bytes(bytes);
  if (size >= 8 && size < 64) check_flip(std::hash<std::string_view>()(bytes));
  return 0;
}
