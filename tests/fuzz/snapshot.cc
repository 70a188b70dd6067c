// Any bytes given to the snapshot decoder are an error or exactly what the encoder writes. A
// checksum would stop the fuzzer, so the input is also tried with a correct heading.
#include "core/wire/journal/snapshot.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/check.h"
#include "testing/random_fields.h"

namespace {

using namespace perdure;

void check_bytes(std::string_view bytes) {
  const auto decoded = decode_snapshot(bytes);
  if (!decoded) return;
  const auto again = decode_snapshot(encode_snapshot(*decoded));
  CHECK(again.has_value());
  CHECK(*again == *decoded);
}

void check_flip(std::uint64_t seed) {
  RandomFields random(seed, RandomFields::Fill::some);
  const State state = random.make<State>();
  std::string bytes = encode_snapshot(state);
  CHECK(decode_snapshot(bytes) == state);
  const std::uint64_t bit = random.below(bytes.size() * 8);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  CHECK(!decode_snapshot(bytes).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_bytes(bytes);
  check_bytes("perdure-snapshot 1 " + sha256(bytes).hex() + "\n" + std::string(bytes));
  if (size >= 8 && size < 64) check_flip(std::hash<std::string_view>()(bytes));
  return 0;
}
