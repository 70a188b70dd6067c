// The spool of an agentctl: numbered entries in segment files, each with a checksum, so that a
// daemon reads exactly the complete entries, also if the agentctl was killed during a write. A
// segment is named after its first number; docs/protocol/agentctl.md has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

inline constexpr std::string_view spool_magic = "PdSpool1";

// "00000000000000000001.spool"
std::string spool_segment_name(std::uint64_t first);
// Absent if the name is not that of a segment.
std::optional<std::uint64_t> spool_segment_first(std::string_view name);

// Appends magic (for a new segment) or one entry: length, checksum, number, payload.
void append_spool_entry(std::string& out, std::uint64_t number, std::string_view payload);
inline constexpr std::size_t spool_entry_overhead = 16;

struct SpoolEntry {
  std::uint64_t number = 0;
  std::string_view payload;
};

// Walks the entries of a segment's bytes, which outlive it. Stops permanently at the first byte
// that is not part of a whole, intact entry.
class SpoolWalk {
 public:
  // `at` is the start of an entry; the first one is at spool_magic.size().
  SpoolWalk(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  bool next();
  const SpoolEntry& entry() const { return entry_; }
  std::size_t at() const { return at_; }  // after the last whole entry
  // After next() returned false: how many bytes a truncated entry here needs, according to its
  // length; 0 if the rest is damaged or empty.
  std::size_t wanted() const { return wanted_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t wanted_ = 0;
  SpoolEntry entry_;
};

}  // namespace perdure
