// Compares the spool with a plain list of frames: adds, flushes, acks and reads in any order, with
// a failing disk, return the frames that were added. Afterwards the disk holds exactly the frames
// that were written.
#include "agentctl/supervisor/spool.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/wire/agentctl/spool.h"
#include "testing/store/memory_folder.h"

namespace perdure {
namespace {

using Frames = std::map<FrameNo, std::string>;

constexpr Spool::Limits small{.bytes_max = 8000, .segment_bytes = 600};
constexpr std::size_t no_end = SIZE_MAX;

// The frames that read() gives after `after`, at most frames_max.
Result<Frames> read_frames(Spool& spool, FrameNo after, std::size_t frames_max = no_end) {
  Frames frames;
  FrameNo next = after + 1;
  const Result<> read = spool.read(after, [&](FrameNo number, std::string_view frame) {
    if (frames.size() == frames_max) return false;
    EXPECT_EQ(number, next++);
    frames.emplace(number, frame);
    return true;
  });
  if (!read) return std::unexpected(read.error());
  return frames;
}

// The frames a daemon finds on disk when the agentctl is gone: every whole entry of every segment.
Frames frames_on_disk(const MemoryFolder& folder) {
  Frames frames;
  for (const auto& [name, bytes] : folder.files()) {
    EXPECT_TRUE(spool_segment_first(name).has_value()) << name;
    if (!bytes.starts_with(spool_magic)) continue;
    for (SpoolWalk walk(bytes, spool_magic.size()); walk.next();) {
      if (!frames.empty()) EXPECT_EQ(walk.entry().number, frames.rbegin()->first + 1);
      EXPECT_GE(walk.entry().number, *spool_segment_first(name));
      frames.emplace(walk.entry().number, walk.entry().payload);
    }
  }
  return frames;
}

void add_and_flush(Spool& spool, const std::vector<std::string>& frames) {
  for (const std::string& frame : frames) {
    spool.add(frame);
    ASSERT_TRUE(spool.flush().has_value());
  }
}

std::vector<std::string> some_frames(std::size_t count, std::size_t bytes) {
  std::vector<std::string> frames;
  for (std::size_t i = 1; i <= count; ++i) {
    frames.push_back(std::to_string(i) + std::string(bytes, 'x'));
  }
  return frames;
}

Code code_of(const auto& result) {
  EXPECT_FALSE(result.has_value());
  return result ? Code::internal : result.error().code();
}

TEST(Spool, PROC5_numbers_frames_from_one_and_shows_them_once_written) {
  MemoryFolder folder;
  Spool spool(folder, small);
  EXPECT_EQ(spool.add("one"), 1U);
  EXPECT_EQ(spool.add("two"), 2U);
  EXPECT_EQ(spool.last(), 2U);
  EXPECT_EQ(spool.written(), 0U);
  EXPECT_EQ(read_frames(spool, 0), Frames{});
  EXPECT_TRUE(folder.files().empty());
  ASSERT_TRUE(spool.flush().has_value());
  EXPECT_EQ(spool.written(), 2U);
  EXPECT_EQ(read_frames(spool, 0), (Frames{{1, "one"}, {2, "two"}}));
  EXPECT_EQ(frames_on_disk(folder), (Frames{{1, "one"}, {2, "two"}}));
  EXPECT_EQ(folder.files().begin()->first, "00000000000000000001.spool");
  EXPECT_EQ(folder.bytes(), spool.bytes());
}

TEST(Spool, flushing_nothing_writes_nothing) {
  MemoryFolder folder;
  Spool spool(folder, small);
  ASSERT_TRUE(spool.flush().has_value());
  EXPECT_TRUE(folder.files().empty());
}

TEST(Spool, PROC5_reads_on_from_any_frame) {
  MemoryFolder folder;
  Spool spool(folder, small);
  const auto frames = some_frames(40, 90);
  add_and_flush(spool, frames);
  ASSERT_GT(folder.files().size(), 3U);
  for (FrameNo after = 0; after <= 42; ++after) {
    const auto read = read_frames(spool, after);
    ASSERT_TRUE(read.has_value());
    ASSERT_EQ(read->size(), after < 40 ? 40 - after : 0);
    for (const auto& [number, frame] : *read) ASSERT_EQ(frame, frames[number - 1]);
  }
}

TEST(Spool, a_taker_that_has_enough_gets_the_rest_next_time) {
  MemoryFolder folder;
  Spool spool(folder, small);
  const auto frames = some_frames(25, 90);
  add_and_flush(spool, frames);
  for (std::size_t at_once = 1; at_once <= 7; ++at_once) {
    FrameNo have = 0;
    while (have < 25) {
      const auto read = read_frames(spool, have, at_once);
      ASSERT_TRUE(read.has_value());
      ASSERT_EQ(read->size(), std::min<std::size_t>(at_once, 25 - have));
      have = read->rbegin()->first;
      ASSERT_EQ(read->rbegin()->second, frames[have - 1]);
    }
  }
}

TEST(Spool, takes_frames_longer_than_what_is_read_at_once) {
  MemoryFolder folder;
  Spool spool(folder, {.bytes_max = 64UL << 20, .segment_bytes = 8UL << 20});
  // Sizes around one read, so that its end cuts a heading or a frame.
  std::vector<std::string> frames;
  for (const std::size_t bytes : {10UL, 262'120UL, 262'128UL, 262'144UL, 3'000'000UL, 0UL, 7UL,
                                  262'090UL, 262'144UL - 16, 262'144UL - 17, 5UL}) {
    frames.emplace_back(bytes, static_cast<char>('a' + frames.size()));
  }
  add_and_flush(spool, frames);
  ASSERT_EQ(folder.files().size(), 1U);
  for (FrameNo after = 0; after < frames.size(); ++after) {
    for (const std::size_t at_once : {std::size_t{1}, no_end}) {
      const auto read = read_frames(spool, after, at_once);
      ASSERT_TRUE(read.has_value()) << read.error().message();
      ASSERT_EQ(read->size(), std::min(at_once, frames.size() - after));
      for (const auto& [number, frame] : *read) ASSERT_TRUE(frame == frames[number - 1]);
    }
  }
}

TEST(Spool, PROC5_segments_go_behind_the_acks_and_no_sooner) {
  MemoryFolder folder;
  Spool spool(folder, small);
  const auto frames = some_frames(40, 90);
  add_and_flush(spool, frames);
  for (FrameNo acked = 1; acked <= 40; ++acked) {
    ASSERT_TRUE(spool.ack(acked).has_value());
    const Frames left = frames_on_disk(folder);
    if (acked < 40) {
      ASSERT_LE(left.begin()->first, acked + 1);
      ASSERT_EQ(left.rbegin()->first, 40U);
      ASSERT_EQ(read_frames(spool, acked)->size(), 40 - acked);
    }
    ASSERT_EQ(spool.bytes(), folder.bytes());
    // The first segment on disk holds the next frame or is the last.
    if (folder.files().size() > 1) {
      ASSERT_GT(*spool_segment_first(std::next(folder.files().begin())->first), acked + 1);
    }
  }
}

TEST(Spool, a_last_segment_that_is_large_goes_with_its_last_frame) {
  MemoryFolder folder;
  Spool spool(folder, small);
  spool.add(std::string(5000, 'x'));
  ASSERT_TRUE(spool.flush().has_value());
  ASSERT_TRUE(spool.ack(1).has_value());
  EXPECT_TRUE(folder.files().empty());
  EXPECT_EQ(spool.bytes(), 0U);
  add_and_flush(spool, {"next"});
  EXPECT_EQ(read_frames(spool, 1), (Frames{{2, "next"}}));
  EXPECT_EQ(folder.files().begin()->first, spool_segment_name(2));
}

TEST(Spool, X21_a_cut_takes_what_is_acked_out_of_the_files) {
  MemoryFolder folder;
  Spool spool(folder, small);
  EXPECT_TRUE(spool.cut());
  spool.add("a secret");
  spool.add("another frame");
  ASSERT_TRUE(spool.flush().has_value());
  ASSERT_TRUE(spool.ack(1).has_value());
  EXPECT_FALSE(spool.cut()) << "nobody acked the second frame";
  spool.add("the third");
  ASSERT_TRUE(spool.flush().has_value());
  EXPECT_EQ(folder.files().size(), 2U) << "a frame behind the cut begins a segment";
  ASSERT_EQ(read_frames(spool, 1)->size(), 2U);
  ASSERT_TRUE(spool.ack(2).has_value());
  ASSERT_EQ(folder.files().size(), 1U);
  ASSERT_TRUE(spool.ack(3).has_value());
  EXPECT_TRUE(spool.cut());
  EXPECT_TRUE(folder.files().empty());
  spool.add("the fourth");
  ASSERT_TRUE(spool.flush().has_value());
  EXPECT_EQ(*read_frames(spool, 3), (Frames{{4, "the fourth"}}));
}

TEST(Spool, an_ack_of_what_was_never_written_is_refused_and_changes_nothing) {
  MemoryFolder folder;
  Spool spool(folder, small);
  EXPECT_TRUE(spool.ack(0).has_value());
  add_and_flush(spool, {"one", "two"});
  spool.add("not yet written");
  EXPECT_EQ(code_of(spool.ack(3)), Code::invalid_argument);
  EXPECT_EQ(spool.acked(), 0U);
  ASSERT_TRUE(spool.ack(2).has_value());
  ASSERT_TRUE(spool.ack(1).has_value());
  EXPECT_EQ(spool.acked(), 2U);
}

TEST(Spool, what_was_acked_and_is_gone_cannot_be_read) {
  MemoryFolder folder;
  Spool spool(folder, small);
  add_and_flush(spool, some_frames(40, 90));
  ASSERT_TRUE(spool.ack(30).has_value());
  EXPECT_EQ(code_of(read_frames(spool, 0)), Code::invalid_argument);
  EXPECT_EQ(read_frames(spool, 30)->size(), 10U);
}

TEST(Spool, a_segment_that_could_not_be_removed_goes_with_a_later_ack) {
  MemoryFolder folder;
  Spool spool(folder, small);
  add_and_flush(spool, some_frames(40, 90));
  folder.refuse_next_change();
  ASSERT_TRUE(spool.ack(39).has_value());
  EXPECT_EQ(spool.acked(), 39U);
  EXPECT_EQ(spool.bytes(), folder.bytes());
  EXPECT_GT(folder.files().size(), 1U);
  ASSERT_TRUE(spool.ack(39).has_value());
  EXPECT_EQ(folder.files().size(), 1U);
  EXPECT_EQ(read_frames(spool, 39)->size(), 1U);
}

TEST(Spool, PROC5_is_full_at_its_limit_and_has_room_again_at_half) {
  MemoryFolder folder;
  Spool spool(folder, small);
  FrameNo last = 0;
  while (!spool.is_full()) {
    ASSERT_LT(spool.bytes(), small.bytes_max);
    last = spool.add(std::string(90, 'x'));
    if (last % 3 == 0) ASSERT_TRUE(spool.flush().has_value());
  }
  EXPECT_FALSE(spool.has_room_again());
  ASSERT_TRUE(spool.flush().has_value());
  FrameNo acked = 0;
  while (!spool.has_room_again()) {
    ASSERT_LT(acked, last);
    ASSERT_TRUE(spool.ack(++acked).has_value());
  }
  // Roughly half should be acked: neither all nor almost none.
  EXPECT_GT(acked, last / 3);
  EXPECT_LT(acked, last * 3 / 4);
}

TEST(Spool, there_is_room_again_once_all_is_acked_whatever_the_limit) {
  for (std::uint64_t bytes_max = 1; bytes_max < 200; ++bytes_max) {
    MemoryFolder folder;
    Spool spool(folder, {.bytes_max = bytes_max, .segment_bytes = 8UL << 20});
    for (FrameNo number = 1; number <= 4; ++number) {
      while (!spool.is_full()) spool.add("frame");
      ASSERT_TRUE(spool.flush().has_value());
      ASSERT_TRUE(spool.ack(spool.last()).has_value());
      ASSERT_TRUE(spool.has_room_again()) << bytes_max;
      ASSERT_FALSE(spool.is_full()) << bytes_max;
    }
  }
}

TEST(Spool, DISK2_a_full_disk_keeps_everything_and_it_goes_on_by_itself) {
  MemoryFolder folder;
  Spool spool(folder, small);
  add_and_flush(spool, {"one"});
  folder.fill_disk();
  spool.add("two");
  EXPECT_EQ(code_of(spool.flush()), Code::disk_full);
  spool.add("three");
  EXPECT_EQ(code_of(spool.flush()), Code::disk_full);
  EXPECT_EQ(spool.written(), 1U);
  EXPECT_EQ(spool.last(), 3U);
  EXPECT_EQ(read_frames(spool, 0), (Frames{{1, "one"}}));
  EXPECT_EQ(frames_on_disk(folder), (Frames{{1, "one"}}));
  ASSERT_TRUE(spool.ack(1).has_value());  // acks need no room
  folder.make_room();
  ASSERT_TRUE(spool.flush().has_value());
  EXPECT_EQ(read_frames(spool, 1), (Frames{{2, "two"}, {3, "three"}}));
}

TEST(Spool, C23_DISK2_a_frame_for_now_is_written_at_once_or_never) {
  MemoryFolder folder;
  Spool spool(folder, small);
  spool.add("one");
  ASSERT_TRUE(spool.add_now("two").has_value());
  EXPECT_EQ(frames_on_disk(folder), (Frames{{1, "one"}, {2, "two"}}));
  folder.fill_disk();
  EXPECT_EQ(code_of(spool.add_now("not this one")), Code::disk_full);
  spool.add("three");
  EXPECT_EQ(code_of(spool.add_now("nor this one")), Code::disk_full);
  folder.make_room();
  ASSERT_TRUE(spool.add_now("four").has_value());
  EXPECT_EQ(read_frames(spool, 0), (Frames{{1, "one"}, {2, "two"}, {3, "three"}, {4, "four"}}));
}

TEST(Spool, PROC5_an_append_torn_at_any_byte_is_mended_before_the_next) {
  // The first write of a segment, and one after others.
  for (const std::size_t before : {0UL, 2UL}) {
    for (std::size_t kept = 0; kept < 80; ++kept) {
      MemoryFolder folder;
      Spool spool(folder, small);
      Frames frames;
      for (std::size_t i = 0; i < before; ++i) frames.emplace(spool.add("early"), "early");
      ASSERT_TRUE(spool.flush().has_value());
      folder.tear_next_append(kept);
      spool.add("torn off somewhere in the middle");
      ASSERT_EQ(code_of(spool.flush()), Code::storage_unknown);
      // If the agentctl died now, only whole frames would be found.
      const Frames found = frames_on_disk(folder);
      ASSERT_GE(found.size(), before);
      ASSERT_LE(found.size(), before + 1);
      ASSERT_EQ(spool.written(), before);
      frames.emplace(before + 1, "torn off somewhere in the middle");
      frames.emplace(spool.add("later"), "later");
      if (kept % 2 == 0) {
        folder.refuse_next_change();
        ASSERT_EQ(code_of(spool.flush()), Code::internal);
        ASSERT_EQ(spool.written(), before);
      }
      ASSERT_TRUE(spool.flush().has_value());
      ASSERT_EQ(frames_on_disk(folder), frames) << kept;
      ASSERT_EQ(read_frames(spool, 0), frames);
      ASSERT_EQ(spool.bytes(), folder.bytes());
    }
  }
}

TEST(Spool, damage_on_the_disk_is_said_and_not_served) {
  const auto frames = some_frames(8, 90);
  MemoryFolder clean;
  Spool first(clean, {.bytes_max = 100'000, .segment_bytes = 10'000});
  add_and_flush(first, frames);
  const std::size_t size = clean.bytes();
  for (std::size_t at = spool_magic.size(); at < size; at += 3) {
    MemoryFolder folder;
    Spool spool(folder, {.bytes_max = 100'000, .segment_bytes = 10'000});
    add_and_flush(spool, frames);
    folder.files().begin()->second[at] ^= 0x10;
    Frames read;
    const Result<> result = spool.read(0, [&](FrameNo number, std::string_view frame) {
      read.emplace(number, frame);
      return true;
    });
    ASSERT_EQ(code_of(result), Code::damaged) << at;
    ASSERT_LT(read.size(), frames.size());
    for (const auto& [number, frame] : read) ASSERT_EQ(frame, frames[number - 1]);
  }
}

// The model: all frames ever added, and the numbers of the last written and acked ones.
struct Model {
  std::vector<std::string> frames;
  FrameNo written = 0;
  FrameNo acked = 0;

  Frames behind(FrameNo after) const {
    Frames out;
    for (FrameNo n = after + 1; n <= written; ++n) out.emplace(n, frames[n - 1]);
    return out;
  }
};

class SpoolCourse {
 public:
  void step() {
    switch (*rc::gen::weightedElement<int>(
        {{8, 0}, {4, 1}, {2, 2}, {2, 3}, {4, 4}, {2, 5}, {4, 6}, {1, 7}})) {
      case 0: add(); break;
      case 1: flush(); break;
      case 2: flush_to_a_full_disk(); break;
      case 3: flush_torn(); break;
      case 4: ack(); break;
      case 5: read(*rc::gen::inRange<FrameNo>(0, model_.written + 2)); break;
      case 6: read(have_); break;  // continues where the last read ended
      default: finish(); break;
    }
    check();
  }
  void finish() {
    const auto rest = read_frames(spool_, model_.acked);
    RC_ASSERT(rest.has_value());
    RC_ASSERT(*rest == model_.behind(model_.acked));
    look_at_disk();
  }

 private:
  void look_at_disk() {
    Frames found = frames_on_disk(folder_);
    const FrameNo first = found.empty() ? model_.written + 1 : found.begin()->first;
    RC_ASSERT(first <= model_.acked + 1);
    // A torn append may leave whole frames that were never reported as written.
    for (const auto& [number, frame] : found) RC_ASSERT(frame == model_.frames[number - 1]);
    for (FrameNo n = model_.acked + 1; n <= model_.written; ++n) RC_ASSERT(found.contains(n));
  }
  void add() {
    const auto bytes = *rc::gen::inRange<std::size_t>(0, 900);
    model_.frames.emplace_back(bytes, static_cast<char>('a' + model_.frames.size() % 26));
    RC_ASSERT(spool_.add(model_.frames.back()) == model_.frames.size());
  }
  void flush() {
    RC_ASSERT(spool_.flush().has_value());
    model_.written = model_.frames.size();
    RC_ASSERT(folder_.bytes() == spool_.bytes());
  }
  void flush_to_a_full_disk() {
    folder_.fill_disk();
    RC_ASSERT(spool_.flush().has_value() == (model_.written == model_.frames.size()));
    folder_.make_room();
  }
  void flush_torn() {
    if (model_.written == model_.frames.size()) return;
    folder_.tear_next_append(*rc::gen::inRange<std::size_t>(0, 3000));
    RC_ASSERT(!spool_.flush().has_value());
  }
  void ack() {
    const auto number = *rc::gen::inRange<FrameNo>(0, model_.written + 2);
    RC_ASSERT(spool_.ack(number).has_value() == (number <= model_.written));
    if (number <= model_.written) model_.acked = std::max(model_.acked, number);
  }
  void read(FrameNo after) {
    const auto frames_max = *rc::gen::inRange<std::size_t>(1, 12);
    const auto read = read_frames(spool_, after, frames_max);
    if (!read) {
      RC_ASSERT(after < model_.acked);
      RC_ASSERT(read.error().code() == Code::invalid_argument);
      return;
    }
    Frames expected = model_.behind(after);
    while (expected.size() > frames_max) expected.erase(std::prev(expected.end()));
    RC_ASSERT(*read == expected);
    have_ = after + read->size();
  }
  void check() {
    RC_ASSERT(spool_.last() == model_.frames.size());
    RC_ASSERT(spool_.written() == model_.written);
    RC_ASSERT(spool_.acked() == model_.acked);
    RC_ASSERT(spool_.is_full() == (spool_.bytes() >= small.bytes_max));
  }

  MemoryFolder folder_;
  Spool spool_{folder_, small};
  Model model_;
  FrameNo have_ = 0;
};

RC_GTEST_PROP(SpoolModel, PROC5_random_courses_agree_with_a_list, ()) {
  SpoolCourse course;
  const auto steps = *rc::gen::inRange<std::size_t>(1, 120);
  for (std::size_t i = 0; i < steps; ++i) course.step();
  course.finish();
}

}  // namespace
}  // namespace perdure
