// Any bytes of an agent, cut anywhere: all output is valid JSON, memory stays within the limit, and
// the cuts make no difference. The first byte is the size of the pieces.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json/json.h"
#include "base/text.h"
#include "core/acp/collect_for_test.h"
#include "core/acp/line_reader.h"

namespace perdure::acp {
namespace {

constexpr std::size_t line_bytes_max = 700;  // small, so that longer lines occur

std::vector<std::string> read_in_pieces(std::string_view bytes, std::size_t piece_bytes) {
  Collected collected;
  LineReader reader(line_bytes_max);
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
    reader.feed(bytes.substr(at, piece_bytes), collected);
    CHECK(reader.buffered_bytes() <= line_bytes_max);
  }
  reader.feed_end(collected);
  CHECK(reader.buffered_bytes() == 0);
  return collected.all;
}

void check_bytes(std::string_view bytes, std::size_t piece_bytes) {
  const std::vector<std::string> whole = read_in_pieces(bytes, bytes.size() + 1);
  CHECK(read_in_pieces(bytes, piece_bytes) == whole);
  for (const std::string& one : whole) {
    constexpr std::string_view object = "object ";
    if (!one.starts_with(object)) continue;
    const std::string_view text = std::string_view(one).substr(object.size());
    CHECK(text.starts_with('{') && is_utf8(text) && json_validate(text).has_value());
    CHECK(text.find('\n') == std::string_view::npos);
  }
}

}  // namespace
}  // namespace perdure::acp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view all(reinterpret_cast<const char*>(bytes), size);
  perdure::acp::check_bytes(all.substr(1), bytes[0] % 64 + 1UL);
  return 0;
}
