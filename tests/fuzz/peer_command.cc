// Any bytes given to the decoder of another daemon's commands are an error or a command, and a
// decoded command encodes and decodes without a difference.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/wire/agentctl/command.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perdure;
  const auto decoded = decode_command({reinterpret_cast<const char*>(data), size});
  if (!decoded) return 0;
  const auto written = encode_command(*decoded);
  CHECK(written.has_value());
  const auto again = decode_command(*written);
  CHECK(again.has_value());
  CHECK(again->index() == decoded->index());
  CHECK(encode_command(*again) == written);
  return 0;
}
