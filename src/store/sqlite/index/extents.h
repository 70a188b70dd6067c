// The stored form of a session's index: rows of extents(sid, first_seq, packed), each with the
// positions of up to extent_entries_max consecutive entries. Extents can always be rebuilt from the
// log.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite/index/block.h"

namespace perdure {

inline constexpr std::size_t extent_entries_max = 256;

// The identity of a packed extent; its checksum covers it.
struct ExtentKey {
  std::uint64_t sid = 0;
  Seq first_seq = 0;
};

std::string pack_extent(const ExtentKey& key, std::span<const EntryRef> refs);
// Absent if the bytes are damaged or belong to another key.
std::optional<std::vector<EntryRef>> unpack_extent(const ExtentKey& key, std::string_view packed);

// The total number of their records.
Seq records_in(std::span<const EntryRef> refs);

}  // namespace perdure
