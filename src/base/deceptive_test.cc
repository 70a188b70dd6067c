// The page marks the same characters: both sides test the table tests/shared/deceptive_cases.json;
// the page does so in web/src/core/suspicious_cases.test.ts.
#include "base/deceptive.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json/json.h"
#include "base/json/json_view.h"
#include "base/text.h"

namespace perdure {
namespace {

std::string table_text() {
  std::ifstream in(PERDURE_SOURCE_DIR "/tests/shared/deceptive_cases.json");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> marks_of(std::string_view text, Care care) {
  std::vector<std::string> out;
  split_deceptive(text, care, [&](std::string_view part, bool is_mark) {
    if (!is_mark) return;
    const std::size_t begin = part.find('<') + 1;
    out.emplace_back(part.substr(begin, part.size() - begin - 1));
  });
  return out;
}

std::vector<std::string> texts_of(JsonView array) {
  std::vector<std::string> out;
  for (const JsonView item : array.items()) out.push_back(item.text());
  return out;
}

TEST(Deceptive, marks_what_the_page_marks) {
  const std::string text = table_text();
  const std::optional<JsonView> table = JsonView::read(text);
  ASSERT_TRUE(table.has_value());
  ASSERT_GT((*table)["cases"].items().size(), 15U);
  for (const JsonView one : (*table)["cases"].items()) {
    EXPECT_EQ(marks_of(one["text"].text(), Care::prose), texts_of(one["prose"]))
        << one["name"].text();
    EXPECT_EQ(marks_of(one["text"].text(), Care::title), texts_of(one["title"]))
        << one["name"].text();
    EXPECT_EQ(marks_of(one["text"].text(), Care::command), texts_of(one["command"]))
        << one["name"].text();
  }
}

// "a\u0430b", of any code point but a surrogate.
std::string utf8(char32_t c) {
  const auto low = [&](int shift) { return static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0U | c >> 6), low(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0U | c >> 12), low(6), low(0)};
  return {static_cast<char>(0xF0U | c >> 18), low(12), low(6), low(0)};
}

std::string ranges_of(Care care, std::string_view before, std::string_view after) {
  std::ostringstream out;
  out << std::hex;
  constexpr char32_t none = 0x110000;
  char32_t first = none;
  for (char32_t c = 0; c <= none; ++c) {
    const bool is_character = c < none && (c < 0xD800 || c > 0xDFFF);
    const std::string text = is_character ? std::string(before) + utf8(c) + std::string(after) : "";
    if (count_deceptive(text, care) > 0) {
      if (first == none) first = c;
    } else if (first != none) {
      out << (out.tellp() > 0 ? " " : "") << static_cast<std::uint32_t>(first);
      if (c - first > 1) out << '-' << static_cast<std::uint32_t>(c - 1);
      first = none;
    }
  }
  return out.str();
}

TEST(Deceptive, marks_every_code_point_that_the_page_marks) {
  const std::string text = table_text();
  const JsonView marked = (*JsonView::read(text))["marked"];
  EXPECT_EQ(ranges_of(Care::prose, "", ""), marked["alone prose"].text());
  EXPECT_EQ(ranges_of(Care::title, "", ""), marked["alone title"].text());
  EXPECT_EQ(ranges_of(Care::command, "", ""), marked["alone command"].text());
  EXPECT_EQ(ranges_of(Care::prose, "a", "b"), marked["in_a_word prose"].text());
  EXPECT_EQ(ranges_of(Care::title, "a", "b"), marked["in_a_word title"].text());
  EXPECT_EQ(ranges_of(Care::command, "a", "b"), marked["in_a_word command"].text());
}

TEST(Deceptive, a_mark_stands_where_the_character_was) {
  EXPECT_EQ(mark_deceptive("rm \u202Efdp.exe", Care::prose), "rm <U+202E>fdp.exe");
  EXPECT_EQ(mark_deceptive("p\u0430y", Care::command), "p\u0430<U+0430>y");
  EXPECT_EQ(mark_deceptive("a\u00A0b \U0001D42B", Care::command), "a<U+00A0>b \U0001D42B<U+1D42B>");
  EXPECT_EQ(mark_deceptive("\xFFx", Care::command), "\uFFFDx");
  EXPECT_EQ(count_deceptive("a\u200B\u200Bb", Care::prose), 2U);
  EXPECT_EQ(count_deceptive("", Care::command), 0U);
}

TEST(Deceptive, a_title_marks_look_alikes_and_lets_emoji_pass) {
  EXPECT_EQ(mark_deceptive("p\u0430y \U0001F469\u200D\U0001F4BB", Care::title),
            "p\u0430<U+0430>y \U0001F469\u200D\U0001F4BB");
}

RC_GTEST_PROP(Deceptive, nothing_of_the_text_is_lost_or_acts, (const std::string& bytes)) {
  const std::string marked = mark_deceptive(bytes, Care::command);
  RC_ASSERT(is_utf8(marked));
  RC_ASSERT(utf8_length(marked) >= utf8_length(bytes));
  RC_ASSERT(mark_deceptive(marked, Care::prose) == marked);
  for (const char c : marked) {
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

}  // namespace
}  // namespace perdure
