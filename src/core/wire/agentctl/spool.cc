// Entries of a spool segment; little-endian numbers.
#include "core/wire/agentctl/spool.h"

#include <cstring>

#include "base/bytes/crc32c.h"
#include "base/bytes/little_endian.h"
#include "base/limits.h"

namespace perdure {
namespace {

constexpr std::string_view suffix = ".spool";
constexpr std::size_t name_digits = 20;
// length (4), checksum (4), number (8); the checksum covers everything but itself.
constexpr std::size_t checksum_at = 4;
constexpr std::size_t number_at = 8;

std::uint32_t entry_checksum(std::string_view entry) {
  return crc32c(entry.substr(number_at), crc32c(entry.substr(0, checksum_at)));
}

}  // namespace

std::string spool_segment_name(std::uint64_t first) {
  std::string digits = std::to_string(first);
  return std::string(name_digits - digits.size(), '0') + digits + std::string(suffix);
}

std::optional<std::uint64_t> spool_segment_first(std::string_view name) {
  if (name.size() != name_digits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  std::uint64_t first = 0;
  for (const char c : name.substr(0, name_digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (first > (UINT64_MAX - digit) / 10) return std::nullopt;
    first = first * 10 + digit;
  }
  return first;
}

void append_spool_entry(std::string& out, std::uint64_t number, std::string_view payload) {
  const std::size_t start = out.size();
  append_little_endian(out, static_cast<std::uint32_t>(payload.size()));
  append_little_endian(out, std::uint32_t{0});
  append_little_endian(out, number);
  out += payload;
  const std::uint32_t checksum = entry_checksum(std::string_view(out).substr(start));
  for (std::size_t i = 0; i < 4; ++i) {
    out[start + checksum_at + i] = static_cast<char>((checksum >> (8 * i)) & 0xff);
  }
}

bool SpoolWalk::next() {
  wanted_ = 0;
  if (at_ > bytes_.size()) return false;
  const std::string_view rest = bytes_.substr(at_);
  if (rest.size() < spool_entry_overhead) {
    wanted_ = rest.empty() ? 0 : spool_entry_overhead;
    return false;
  }
  const std::size_t length = read_little_endian<std::uint32_t>(rest);
  if (length > frame_bytes_max) return false;
  const std::size_t whole = spool_entry_overhead + length;
  if (rest.size() < whole) {
    wanted_ = whole;
    return false;
  }
  const std::string_view entry = rest.substr(0, whole);
  if (entry_checksum(entry) != read_little_endian<std::uint32_t>(entry.substr(checksum_at)))
    return false;
  entry_ = {read_little_endian<std::uint64_t>(entry.substr(number_at)),
            entry.substr(spool_entry_overhead)};
  at_ += whole;
  return true;
}

}  // namespace perdure
