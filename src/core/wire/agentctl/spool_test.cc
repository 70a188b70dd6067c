// A segment of the spool after any death of its writer: truncated or changed at any byte, it gives
// exactly the whole entries before that position.
#include "core/wire/agentctl/spool.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"

namespace perdure {
namespace {

using Entries = std::vector<std::pair<std::uint64_t, std::string>>;

const Entries sample{{7, "first"},
                     {8, ""},
                     {9, std::string("\0\xff\n", 3)},
                     {10, std::string(300, 'x')},
                     {UINT64_MAX, "last"}};

struct Segment {
  std::string bytes{spool_magic};
  std::vector<std::size_t> ends;  // the end of each entry
};

Segment segment_of(const Entries& entries) {
  Segment out;
  for (const auto& [number, payload] : entries) {
    append_spool_entry(out.bytes, number, payload);
    out.ends.push_back(out.bytes.size());
  }
  return out;
}

Entries walk(std::string_view bytes, std::size_t at = spool_magic.size()) {
  Entries out;
  SpoolWalk walk(bytes, at);
  while (walk.next()) out.emplace_back(walk.entry().number, walk.entry().payload);
  EXPECT_FALSE(walk.next());  // permanently
  return out;
}

Entries first_of(const Entries& entries, std::size_t count) {
  return {entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count)};
}

// The number of entries that end at or before this position.
std::size_t whole_before(const Segment& segment, std::size_t at) {
  std::size_t count = 0;
  while (count < segment.ends.size() && segment.ends[count] <= at) ++count;
  return count;
}

TEST(WireSpool, names_its_segments_after_their_first_frame) {
  EXPECT_EQ(spool_segment_name(1), "00000000000000000001.spool");
  EXPECT_EQ(spool_segment_name(UINT64_MAX), "18446744073709551615.spool");
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4711}, std::uint64_t{UINT64_MAX}}) {
    EXPECT_EQ(spool_segment_first(spool_segment_name(first)), first);
  }
  for (const std::string_view name :
       {"", ".spool", "1.spool", "0000000000000000000a.spool", "00000000000000000001.spoo",
        "00000000000000000001_spool", "000000000000000000001.spool", "18446744073709551616.spool",
        "99999999999999999999.spool", "-0000000000000000001.spool",
        "00000000000000000001.spool~"}) {
    EXPECT_EQ(spool_segment_first(name), std::nullopt) << name;
  }
}

// The format, byte for byte: if it changes, the magic must change, too.
TEST(WireSpool, looks_like_this) {
  std::string bytes(spool_magic);
  append_spool_entry(bytes, 0x0102, "hello");
  EXPECT_EQ(bytes, std::string("PdSpool1"
                               "\x05\0\0\0"
                               "\xb8\x11\xa0\x70"
                               "\x02\x01\0\0\0\0\0\0"
                               "hello",
                               8 + 16 + 5));
}

TEST(WireSpool, reads_back_what_was_written) {
  const Segment segment = segment_of(sample);
  EXPECT_EQ(walk(segment.bytes), sample);
  EXPECT_EQ(segment.ends[0], spool_magic.size() + spool_entry_overhead + 5);
  // Starting at any entry.
  for (std::size_t i = 0; i < sample.size(); ++i) {
    EXPECT_EQ(walk(segment.bytes, segment.ends[i]),
              Entries(sample.begin() + static_cast<std::ptrdiff_t>(i) + 1, sample.end()));
  }
  EXPECT_EQ(walk(segment.bytes, segment.bytes.size() + 1), Entries{});
}

TEST(WireSpool, PROC5_cut_at_any_byte_it_gives_the_whole_entries_before) {
  const Segment segment = segment_of(sample);
  for (std::size_t size = spool_magic.size(); size <= segment.bytes.size(); ++size) {
    const std::string_view cut = std::string_view(segment.bytes).substr(0, size);
    const std::size_t whole = whole_before(segment, size);
    ASSERT_EQ(walk(cut), first_of(sample, whole)) << size;
    SpoolWalk walk(cut, spool_magic.size());
    while (walk.next()) {}
    const std::size_t start = whole == 0 ? spool_magic.size() : segment.ends[whole - 1];
    ASSERT_EQ(walk.at(), start);
    // Never more bytes than the entry has, and always more than exist.
    const std::size_t rest = size - start;
    if (rest == 0) {
      ASSERT_EQ(walk.wanted(), 0U);
    } else {
      ASSERT_GT(walk.wanted(), rest);
      ASSERT_LE(start + walk.wanted(), segment.ends[whole]);
    }
  }
}

TEST(WireSpool, PROC5_with_any_bit_flipped_it_gives_the_whole_entries_before) {
  const Segment segment = segment_of(sample);
  for (std::size_t bit = spool_magic.size() * 8; bit < segment.bytes.size() * 8; ++bit) {
    std::string bytes = segment.bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    ASSERT_EQ(walk(bytes), first_of(sample, whole_before(segment, bit / 8))) << bit;
  }
}

TEST(WireSpool, garbage_behind_the_last_entry_changes_nothing) {
  const Segment segment = segment_of(sample);
  // A file system that returns zeros or old blocks for data that never reached the disk.
  for (const std::size_t count : {1UL, 15UL, 16UL, 17UL, 4096UL}) {
    EXPECT_EQ(walk(segment.bytes + std::string(count, '\0')), sample) << count;
    EXPECT_EQ(walk(segment.bytes + std::string(count, '\xff')), sample) << count;
  }
}

TEST(WireSpool, an_entry_longer_than_any_frame_is_damage) {
  std::string bytes;
  append_spool_entry(bytes, 1, std::string(frame_bytes_max, 'x'));
  SpoolWalk longest(bytes, 0);
  EXPECT_TRUE(longest.next());
  bytes.clear();
  append_spool_entry(bytes, 1, std::string(frame_bytes_max + 1, 'x'));
  SpoolWalk longer(bytes, 0);
  EXPECT_FALSE(longer.next());
  EXPECT_EQ(longer.wanted(), 0U);
}

RC_GTEST_PROP(WireSpoolProperty, any_entries_read_back_and_any_cut_is_a_prefix,
              (const Entries& entries)) {
  const Segment segment = segment_of(entries);
  RC_ASSERT(walk(segment.bytes) == entries);
  const auto size = *rc::gen::inRange<std::size_t>(spool_magic.size(), segment.bytes.size() + 1);
  RC_ASSERT(walk(std::string_view(segment.bytes).substr(0, size)) ==
            first_of(entries, whole_before(segment, size)));
}

RC_GTEST_PROP(WireSpoolProperty, any_bytes_at_all_are_walked_without_harm,
              (const std::string& bytes)) {
  SpoolWalk walk(bytes, 0);
  while (walk.next()) {}
  RC_ASSERT(walk.at() <= bytes.size());
}

}  // namespace
}  // namespace perdure
