// UTF-8 cutting: well-formed text stays well-formed, no limit is exceeded, and ill-formed bytes
// count like the U+FFFD that replaces them.
#include "base/text.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

using namespace std::string_view_literals;

// One character of each length, each at the edges of its range.
const std::vector<std::string_view> edge_chars{
    "a"sv,      "\0"sv,     "\x7f"sv,       "\u0080"sv,     "\u07ff"sv, "\u0800"sv, "\ud7ff"sv,
    "\ue000"sv, "\uffff"sv, "\U00010000"sv, "\U0010ffff"sv, "ü"sv,      "€"sv,      "😀"sv};

// Bytes that are not characters, each for a different reason.
const std::vector<std::string_view> bad_bytes{"\x80"sv,
                                              "\xbf"sv,
                                              "\xc0\x80"sv,
                                              "\xc1\xbf"sv,
                                              "\xc3"sv,
                                              "\xe0\x80\x80"sv,
                                              "\xe0\x9f\xbf"sv,
                                              "\xe2\x82"sv,
                                              "\xed\xa0\x80"sv,
                                              "\xed\xbf\xbf"sv,
                                              "\xf0\x80\x80\x80"sv,
                                              "\xf0\x8f\xbf\xbf"sv,
                                              "\xf0\x9f\x98"sv,
                                              "\xf4\x90\x80\x80"sv,
                                              "\xf5"sv,
                                              "\xff"sv,
                                              "\xfe"sv};

TEST(Utf8, characters_at_the_edges_are_well_formed) {
  for (const std::string_view c : edge_chars) {
    EXPECT_TRUE(is_utf8(c)) << c;
    EXPECT_EQ(utf8_length(c), 1U) << c;
    EXPECT_EQ(utf8_scrub(c), c);
  }
  EXPECT_TRUE(is_utf8(""));
}

TEST(Utf8, ill_formed_bytes_are_found_wherever_they_stand) {
  for (const std::string_view bad : bad_bytes) {
    for (const std::string_view around : {""sv, "a"sv, "😀"sv}) {
      const std::string text = std::string(around) + std::string(bad) + std::string(around);
      EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(text);
      EXPECT_TRUE(is_utf8(utf8_scrub(text))) << testing::PrintToString(text);
    }
  }
}

TEST(Utf8, scrubbing_keeps_what_is_good) {
  EXPECT_EQ(utf8_scrub("a\xffz"), "a\ufffdz");
  EXPECT_EQ(utf8_scrub("\xe2\x82"), "\ufffd\ufffd");
  EXPECT_EQ(utf8_scrub("\xc3€"), "\ufffd€");
}

TEST(Utf8, a_prefix_in_bytes_never_splits_a_character) {
  const std::string_view text = "aü€😀";  // 1 + 2 + 3 + 4 bytes
  const std::vector<std::size_t> sizes{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t limit = 0; limit < sizes.size(); ++limit) {
    EXPECT_EQ(utf8_prefix(text, limit).size(), sizes[limit]) << limit;
  }
}

TEST(Utf8, a_prefix_in_characters) {
  const std::string_view text = "aü€😀";
  const std::vector<std::size_t> sizes{0, 1, 3, 6, 10, 10};
  for (std::size_t limit = 0; limit < sizes.size(); ++limit) {
    EXPECT_EQ(utf8_prefix_chars(text, limit).size(), sizes[limit]) << limit;
  }
}

TEST(Utf8, a_run_of_stray_bytes_neither_escapes_the_limit_nor_empties_the_prefix) {
  const std::string stray(1000, '\x80');
  EXPECT_EQ(utf8_length(stray), 1000U);
  EXPECT_EQ(utf8_prefix_chars("a" + stray, 10).size(), 10U);
  EXPECT_EQ(utf8_prefix("a" + stray, 10).size(), 10U);
}

TEST(Utf8, a_prefix_ends_before_a_character_cut_off_by_the_end) {
  // The text itself ends in half a character: within the limit it is returned unchanged.
  EXPECT_EQ(utf8_prefix("ab\xe2\x82"sv, 4), "ab\xe2\x82"sv);
  EXPECT_EQ(utf8_prefix("ab€"sv, 4), "ab"sv);
}

std::string some_text() {
  std::string text;
  for (const std::string_view c :
       *rc::gen::container<std::vector<std::string_view>>(rc::gen::elementOf(edge_chars))) {
    text += c;
  }
  return text;
}

RC_GTEST_PROP(Utf8Properties, a_prefix_of_good_text_is_good_and_as_long_as_can_be, ()) {
  const std::string text = some_text();
  const auto limit = *rc::gen::inRange<std::size_t>(0, text.size() + 2);
  const std::string_view prefix = utf8_prefix(text, limit);
  RC_ASSERT(is_utf8(prefix));
  RC_ASSERT(text.starts_with(prefix));
  RC_ASSERT(prefix.size() <= limit);
  RC_ASSERT(prefix.size() + 4 > std::min(limit, text.size()));
}

RC_GTEST_PROP(Utf8Properties, a_prefix_in_characters_has_exactly_as_many, ()) {
  const std::string text = some_text();
  const auto limit = *rc::gen::inRange<std::size_t>(0, utf8_length(text) + 2);
  const std::string_view prefix = utf8_prefix_chars(text, limit);
  RC_ASSERT(is_utf8(prefix));
  RC_ASSERT((utf8_length(prefix) == std::min(limit, utf8_length(text))));
}

RC_GTEST_PROP(Utf8Properties, any_bytes_keep_their_length_when_scrubbed, ()) {
  std::string bytes;
  for (const std::string_view part : *rc::gen::container<std::vector<std::string_view>>(
           rc::gen::oneOf(rc::gen::elementOf(edge_chars), rc::gen::elementOf(bad_bytes)))) {
    bytes += part;
  }
  const std::string scrubbed = utf8_scrub(bytes);
  RC_ASSERT(is_utf8(scrubbed));
  RC_ASSERT((utf8_length(scrubbed) == utf8_length(bytes)));
  RC_ASSERT(((scrubbed == bytes) == is_utf8(bytes)));
}

RC_GTEST_PROP(Utf8Properties, any_bytes_stay_within_every_limit, (std::string bytes)) {
  const auto limit = *rc::gen::inRange<std::size_t>(0, bytes.size() + 2);
  RC_ASSERT(utf8_prefix(bytes, limit).size() <= limit);
  RC_ASSERT(utf8_length(utf8_prefix_chars(bytes, limit)) <= limit);
  RC_ASSERT(is_utf8(utf8_scrub(bytes)));
}

}  // namespace
}  // namespace perdure
