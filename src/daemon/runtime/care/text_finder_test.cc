// Redacted texts elsewhere: long ones anywhere, short ones as words, and what an agent sent in
// pieces.
#include "daemon/runtime/care/text_finder.h"

#include <set>

#include <gtest/gtest.h>

namespace perdure {
namespace {

TextFinder finder_of(std::vector<std::string> texts) {
  TextFinder finder;
  for (std::string& text : texts) finder.add(std::move(text));
  return finder;
}

TEST(TextFinder, X21_a_long_text_is_found_wherever_it_stands) {
  const TextFinder finder = finder_of({"my \"pass\" word"});
  EXPECT_TRUE(finder.is_in(R"(itismy "pass" wordindeed)"));
  EXPECT_TRUE(finder.is_in_json(R"({"a":[{"b":"x my \"pass\" word"}]})"));
  EXPECT_FALSE(finder.is_in_json(R"({"a":"my pass word"})"));
}

TEST(TextFinder, X21_a_short_text_is_found_as_a_word_in_values_and_not_in_names) {
  const TextFinder finder = finder_of({"hunter2"});
  EXPECT_TRUE(finder.is_in_json(R"({"text":"it is hunter2."})"));
  EXPECT_TRUE(finder.is_in_json(R"({"text":["hunter2"]})"));
  EXPECT_FALSE(finder.is_in_json(R"({"text":"hunter22 xhunter2 hunter2_"})"));
  EXPECT_FALSE(finder.is_in_json(R"({"hunter2":"x"})"));
}

TEST(TextFinder, X21_a_title_that_was_cut_from_a_text_is_one) {
  const TextFinder finder = finder_of({"log in with hunter2 and look around"});
  EXPECT_TRUE(finder.begins_with("log in with hunter2…"));
  EXPECT_FALSE(finder.begins_with("log in"));
  EXPECT_FALSE(finder.begins_with("something else"));
}

TEST(PieceFinder, X21_a_text_is_found_across_the_pieces_of_a_message) {
  const TextFinder finder = finder_of({"hunter2correct"});
  PieceFinder pieces(finder);
  EXPECT_TRUE(pieces.add(1, MessageAgent{.text = "it is "}).empty());
  EXPECT_TRUE(pieces.add(2, MessageAgent{.text = "hunter"}).empty());
  EXPECT_TRUE(pieces.add(3, Usage{}).empty());
  EXPECT_TRUE(pieces.add(4, MessageAgent{.text = "2correct, ok"}).empty());
  EXPECT_TRUE(pieces.add(5, MessageAgent{.text = "?"}).empty());
  EXPECT_EQ(pieces.add(6, RunCompleted{}), (std::vector<std::uint64_t>{2, 4}));
  EXPECT_TRUE(pieces.add(7, MessageAgent{.text = "hunter2"}).empty());
  EXPECT_TRUE(pieces.add(8, MessageThought{.text = "correct"}).empty()) << "another message";
  EXPECT_TRUE(pieces.end().empty());
}

TEST(PieceFinder, X21_a_long_message_is_looked_at_in_parts_that_overlap) {
  const TextFinder finder = finder_of({"hunter2correct"});
  PieceFinder pieces(finder);
  std::vector<std::uint64_t> found;
  const std::string filler(1UL << 18, '.');
  for (std::uint64_t seq = 1; seq <= 40; ++seq) {
    const bool is_end = seq % 2 == 0;
    const std::string text = is_end ? "2correct" + filler : filler + "hunter";
    for (const std::uint64_t one : pieces.add(seq, MessageAgent{.text = text})) {
      found.push_back(one);
    }
  }
  for (const std::uint64_t one : pieces.end()) found.push_back(one);
  const std::set<std::uint64_t> distinct(found.begin(), found.end());
  EXPECT_EQ(distinct.size(), 40U);
}

}  // namespace
}  // namespace perdure
