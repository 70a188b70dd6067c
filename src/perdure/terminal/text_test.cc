// Text on a terminal: hostile output made harmless, widths, Markdown, differences.
#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/diff.h"
#include "perdure/terminal/markdown.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

TEST(CleanText, hostile_output_keeps_its_words_and_loses_its_powers) {
  EXPECT_EQ(clean_text("a\x1B[31mred\x1B[0m b"), "ared b");
  EXPECT_EQ(clean_text("x\x1B]0;title\x07y"), "xy");
  EXPECT_EQ(clean_text("x\x1B]8;;http://evil\x1B\\link\x1B]8;;\x1B\\y"), "xlinky");
  EXPECT_EQ(clean_text("x\x1BP1;2|secret\x1B\\y"), "xy");
  EXPECT_EQ(clean_text("x\xC2\x9B"
                       "31my\xC2\x9D"
                       "0;t\xC2\x9Cz"),
            "xyz");
  EXPECT_EQ(clean_text("one\rtwo\bthree\x07\x7F\x0E"), "onetwothree");
  EXPECT_EQ(clean_text("line\r\nnext\ttab"), "line\nnext\ttab");
  EXPECT_EQ(clean_text("a\x1B(0b\x1B"
                       "cd"),
            "abd");
}

TEST(CleanText, text_cannot_be_turned_around_or_hidden) {
  EXPECT_EQ(clean_text("rm \u202Esafe\u202C"), "rm <U+202E>safe<U+202C>");
  EXPECT_EQ(clean_text("\u2066a\u200Eb\u061C"), "<U+2066>a<U+200E>b<U+061C>");
  EXPECT_EQ(clean_text("zero\u200Bwidth\uFEFF"), "zero<U+200B>width<U+FEFF>");
  EXPECT_EQ(clean_text("tag\U000E0041"), "tag<U+E0041>");
  EXPECT_EQ(clean_text("a\u2028b"), "a<U+2028>b");
  EXPECT_EQ(clean_text("grüße 日本 🙂 p\u0430y"), "grüße 日本 🙂 p\u0430y");
}

TEST(CleanText, a_name_marks_letters_that_look_latin) {
  EXPECT_EQ(clean_line("p\u0430ypal\nПривет\u202E"), "p\u0430<U+0430>ypal Привет<U+202E>");
}

TEST(CleanText, what_is_approved_keeps_every_character) {
  EXPECT_EQ(exact_text("ls\x1B]0;rm -rf /\x07\r\u00A0#\n\tx"),
            "ls<U+001B>]0;rm -rf /<U+0007><U+000D><U+00A0>#\n\tx");
}

TEST(CleanText, what_was_typed_loses_what_was_not_meant) {
  EXPECT_EQ(clean_typed("a\u200Bb\x1B[31mc\u202E日本"), "abc日本");
}

TEST(CleanText, a_sequence_without_end_swallows_one_line_at_most) {
  EXPECT_EQ(clean_text("a\x1B]0;never ends\nnext line"), "a\nnext line");
  EXPECT_EQ(clean_text("a\x1B[999\nnext"), "a\nnext");
}

TEST(CleanText, bytes_that_are_no_text_become_replacement_characters) {
  EXPECT_EQ(clean_text("a\xFF\xC3"), "a\uFFFD\uFFFD");
}

RC_GTEST_PROP(CleanText, nothing_but_text_newlines_and_tabs_is_left, (const std::string& bytes)) {
  const std::string clean = clean_text(bytes);
  RC_ASSERT(is_utf8(clean));
  for (const char c : clean) {
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
    RC_ASSERT(c != '\x7F');
  }
  RC_ASSERT(clean_text(clean) == clean);
}

RC_GTEST_PROP(CleanText, portions_give_the_same_as_the_whole, ()) {
  static const std::string text =
      "one \x1B[1;31mtwo\x1B[0m \x1B]0;title\x1B\\three\x1B[200~ \x1B(Bfour\n\x1B]9;x\x07"
      "five";
  TextCleaner cleaner;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto bytes = std::min<std::size_t>(rest.size(), *rc::gen::inRange<std::size_t>(1, 6));
    out += cleaner.add(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  RC_ASSERT(out == clean_text(text));
  RC_ASSERT(out == "one two three four\nfive");
}

TEST(Width, counts_cells) {
  EXPECT_EQ(text_width("abc"), 3U);
  EXPECT_EQ(text_width("日本"), 4U);
  EXPECT_EQ(text_width("e\u0301"), 1U);
  EXPECT_EQ(text_width("\x1B[31mred\x1B[39m"), 3U);
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("日本語", 4), "日…");
  EXPECT_EQ(pad("ab", 4), "ab  ");
}

TEST(Width, wraps_at_spaces_and_breaks_long_words) {
  EXPECT_EQ(wrap("the quick brown fox", 10), (std::vector<std::string>{"the quick", "brown fox"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
  EXPECT_EQ(wrap("", 10), std::vector<std::string>{""});
  EXPECT_EQ(expand_tabs("a\tb"), "a   b");
}

RC_GTEST_PROP(Width, no_wrapped_row_is_too_wide_and_no_letter_is_lost, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', ' ', 'c', ' '));
  const auto cells = *rc::gen::inRange<std::size_t>(1, 12);
  std::string letters;
  for (const std::string& row : wrap(text, cells)) {
    RC_ASSERT(text_width(row) <= cells);
    for (const char c : row) letters += c == ' ' ? "" : std::string(1, c);
  }
  std::string expected;
  for (const char c : text) expected += c == ' ' ? "" : std::string(1, c);
  RC_ASSERT(letters == expected);
}

std::string render(std::string_view text, const Style& style) {
  Markdown markdown(style);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    for (const std::string& row : markdown.line(text.substr(0, end), 40)) out += row + "\n";
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return out;
}

constexpr std::string_view document =
    "# Title\n"
    "Some **bold**, *slanted* and `code` in a snake_case_name.\n"
    "- first item that is long enough to be wrapped around\n"
    "  2. numbered\n"
    "> quoted\n"
    "---\n"
    "```cpp\n"
    "int main() { **not bold** }\n"
    "```\n"
    "2 * 3 * 4 and a ` tick\n";

TEST(Markdown, golden_without_colours) {
  EXPECT_EQ(render(document, Style()),
            "Title\n"
            "Some bold, slanted and code in a\n"
            "snake_case_name.\n"
            "• first item that is long enough to be\n"
            "  wrapped around\n"
            "  2. numbered\n"
            "▌ quoted\n"
            "────────────────────────────────────────\n"
            "╭── cpp\n"
            "│ int main() { **not bold** }\n"
            "╰──\n"
            "2 * 3 * 4 and a ` tick\n");
}

TEST(Markdown, golden_with_colours) {
  EXPECT_EQ(render("**b** `c` _i_", Style::coloured()),
            "\x1B[1mb\x1B[22m \x1B[36mc\x1B[39m \x1B[3mi\x1B[23m\n");
  EXPECT_EQ(render("## H", Style::coloured()), "\x1B[1m\x1B[35mH\x1B[39m\x1B[22m\n");
}

TEST(Markdown, a_line_that_is_not_whole_leaves_no_trace) {
  Markdown markdown{Style()};
  EXPECT_EQ(markdown.partial("```", 40), std::vector<std::string>{"╭──"});
  EXPECT_EQ(markdown.line("plain", 40), std::vector<std::string>{"plain"});
}

RC_GTEST_PROP(Markdown, rows_fit_whatever_is_written, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::element('a', ' ', '*', '_', '`', '#', '-', '>', '1', '.', '\n', '~'));
  Markdown markdown(Style::coloured());
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    for (const std::string& row : markdown.line(rest.substr(0, end), 24)) {
      RC_ASSERT(text_width(row) <= 24U + 12U);  // deep lists keep a few cells for their text
    }
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
}

TEST(Diff, golden) {
  const Diff diff =
      diff_of({.before = "a\nb\nc\nd\ne\nf\ng\nh\n", .after = "a\nb\nX\nd\ne\nf\ng\nh\ni\n"}, 1);
  EXPECT_EQ(diff.added, 2U);
  EXPECT_EQ(diff.removed, 1U);
  std::string text;
  for (const std::string& row : render_diff(Style(), diff, {.cells = 40, .rows_max = 20})) {
    text += row + "\n";
  }
  EXPECT_EQ(text, "  ⋮\n  b\n- c\n+ X\n  d\n  ⋮\n  h\n+ i\n");
  EXPECT_EQ(render_diff(Style::coloured(), diff, {.cells = 40, .rows_max = 3}).back(),
            "\x1B[2m… 5 more lines\x1B[22m");
}

TEST(Diff, hostile_lines_are_cleaned_and_long_texts_are_only_counted) {
  const Diff diff = diff_of({.before = "", .after = "\x1B[2Jx"});
  EXPECT_EQ(render_diff(Style(), diff, {.cells = 40, .rows_max = 5}),
            std::vector<std::string>{"+ x"});
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "line\n";
  EXPECT_TRUE(diff_of({.before = many, .after = ""}).is_cut);
}

RC_GTEST_PROP(Diff, applying_it_gives_the_second_text, ()) {
  const auto lines = rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "b", "c", "d"));
  const std::vector<std::string> before = *lines;
  const std::vector<std::string> after = *lines;
  const auto join = [](const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts) out += part + "\n";
    return out;
  };
  const Diff diff = diff_of({.before = join(before), .after = join(after)}, 1000);
  std::vector<std::string> old_lines;
  std::vector<std::string> new_lines;
  for (const DiffLine& line : diff.lines) {
    if (line.kind != DiffLine::Kind::added) old_lines.push_back(line.text);
    if (line.kind != DiffLine::Kind::removed) new_lines.push_back(line.text);
  }
  if (diff.added + diff.removed == 0) {
    RC_ASSERT(before == after);
  } else {
    RC_ASSERT(old_lines == before);
    RC_ASSERT(new_lines == after);
  }
}

}  // namespace
}  // namespace perdure::cli
