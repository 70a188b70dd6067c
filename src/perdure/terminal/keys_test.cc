// Turns terminal bytes into keys, and keys into an edited line.
#include "perdure/terminal/keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"
#include "base/text.h"
#include "perdure/terminal/line_editor.h"
#include "perdure/terminal/width.h"

namespace perdure::cli {
namespace {

using Kind = Key::Kind;

TEST(Keys, characters_controls_and_sequences) {
  KeyReader reader;
  EXPECT_EQ(reader.feed("aü\r\x03\x1D\x7F"), (std::vector<Key>{{Kind::text, "a"},
                                                               {Kind::text, "ü"},
                                                               {Kind::enter, ""},
                                                               {Kind::control, "c"},
                                                               {Kind::control, "]"},
                                                               {Kind::backspace, ""}}));
  EXPECT_EQ(reader.feed("\x1B[A\x1BOD\x1B[3~\x1B[1;5C\x1B\r\x1B\x7F"),
            (std::vector<Key>{{Kind::up, ""},
                              {Kind::left, ""},
                              {Kind::remove, ""},
                              {Kind::word_right, ""},
                              {Kind::newline, ""},
                              {Kind::remove_word, ""}}));
  EXPECT_EQ(reader.feed("\x1B[?1;2c\x1B[24~x"), (std::vector<Key>{{Kind::text, "x"}}));
}

TEST(Keys, a_sequence_can_come_in_portions) {
  KeyReader reader;
  EXPECT_TRUE(reader.feed("\x1B").empty());
  EXPECT_TRUE(reader.is_between());
  EXPECT_TRUE(reader.feed("[").empty());
  EXPECT_EQ(reader.feed("D"), (std::vector<Key>{{Kind::left, ""}}));
  EXPECT_TRUE(reader.feed("\xC3").empty());
  EXPECT_EQ(reader.feed("\xBC"), (std::vector<Key>{{Kind::text, "ü"}}));
}

TEST(Keys, an_escape_that_nothing_follows_is_the_key) {
  KeyReader reader;
  EXPECT_TRUE(reader.feed("\x1B").empty());
  EXPECT_EQ(reader.flush(), (std::vector<Key>{{Kind::escape, ""}}));
  EXPECT_FALSE(reader.is_between());
}

TEST(Keys, what_is_pasted_is_one_key_and_harmless) {
  KeyReader reader;
  EXPECT_TRUE(reader.feed("\x1B[200~one\rtwo\x03y\x1B[31m").empty());
  EXPECT_TRUE(reader.flush().empty());
  EXPECT_EQ(reader.feed("three\x1B[201~n"),
            (std::vector<Key>{{Kind::paste, "one\ntwoythree"}, {Kind::text, "n"}}));
}

RC_GTEST_PROP(Keys, any_bytes_give_clean_text, (const std::string& bytes)) {
  KeyReader reader;
  std::vector<Key> keys = reader.feed(bytes);
  for (const Key& key : reader.flush()) keys.push_back(key);
  for (const Key& key : keys) {
    if (key.kind == Kind::text)
      RC_ASSERT(is_utf8(key.text) && static_cast<unsigned char>(key.text[0]) >= 0x20);
  }
}

void type(LineEditor& editor, std::string_view bytes) {
  KeyReader reader;
  for (const Key& key : reader.feed(bytes)) { EXPECT_FALSE(editor.press(key).has_value()); }
}

TEST(LineEditor, moves_and_removes) {
  LineEditor editor;
  type(editor, "hello wörld");
  type(editor, "\x17");  // Ctrl-W
  EXPECT_EQ(editor.text(), "hello ");
  type(editor, "\x01>> \x05!");
  EXPECT_EQ(editor.text(), ">> hello !");
  type(editor, "\x1B[D\x1B[D\x0B");
  EXPECT_EQ(editor.text(), ">> hello");
  type(editor, "\x15\x19\x19");  // Ctrl-U, Ctrl-Y twice
  EXPECT_EQ(editor.text(), ">> hello>> hello");
  type(editor, "\x1B[H\x1B[3~\x1B[C\x7F");
  EXPECT_EQ(editor.text(), " hello>> hello");
}

TEST(LineEditor, enter_sends_and_a_blank_line_is_not_sent) {
  LineEditor editor;
  type(editor, "  ");
  EXPECT_FALSE(editor.press({Kind::enter, ""}).has_value());
  EXPECT_TRUE(editor.is_empty());
  type(editor, "one\x1B\rtwo");
  EXPECT_EQ(editor.press({Kind::enter, ""}), "one\ntwo");
  EXPECT_TRUE(editor.is_empty());
}

TEST(LineEditor, history_keeps_what_is_being_written) {
  LineEditor editor;
  for (const char* line : {"first", "second"}) {
    type(editor, line);
    editor.press({Kind::enter, ""});
  }
  type(editor, "draft\x1B[A");
  EXPECT_EQ(editor.text(), "second");
  type(editor, "\x1B[A\x1B[A");
  EXPECT_EQ(editor.text(), "first");
  type(editor, "\x1B[B\x1B[B\x1B[B");
  EXPECT_EQ(editor.text(), "draft");
}

TEST(LineEditor, up_and_down_go_through_the_lines_of_a_text_first) {
  LineEditor editor;
  type(editor, "sent");
  editor.press({Kind::enter, ""});
  type(editor, "abc\x1B\rdefgh\x1B[A");
  EXPECT_EQ(editor.text(), "abc\ndefgh");
  EXPECT_EQ(editor.cursor(), 3U);
  type(editor, "\x1B[A");
  EXPECT_EQ(editor.text(), "sent");
}

TEST(LineEditor, layout_says_where_the_cursor_is) {
  LineEditor editor;
  type(editor, "abcdefgh\x1B\rxy");
  const LineEditor::Layout layout = editor.layout(5);
  EXPECT_EQ(layout.rows, (std::vector<std::string>{"abcde", "fgh", "xy"}));
  EXPECT_EQ(layout.row, 2U);
  EXPECT_EQ(layout.column, 2U);
}

RC_GTEST_PROP(LineEditor, any_keys_leave_whole_characters_and_a_cursor_between_them, ()) {
  LineEditor editor;
  const auto keys = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  for (const int number : keys) {
    static constexpr std::string_view letters = "abdefhknpuwyi";
    if (number < 16) {
      editor.press({static_cast<Kind>(number), number == 0 ? "ü" : number == 1 ? "日\nx" : "e"});
    } else if (number < 29) {
      editor.press({Kind::control, std::string(1, letters[static_cast<std::size_t>(number - 16)])});
    } else {
      editor.press({Kind::text, number % 2 == 0 ? "é" : " "});
    }
    RC_ASSERT(is_utf8(editor.text()));
    RC_ASSERT(editor.cursor() <= editor.text().size());
    RC_ASSERT(is_utf8(std::string_view(editor.text()).substr(0, editor.cursor())));
    const LineEditor::Layout layout = editor.layout(7);
    RC_ASSERT(layout.row < layout.rows.size());
    for (const std::string& row : layout.rows) RC_ASSERT(text_width(row) <= 7U);
  }
}

}  // namespace
}  // namespace perdure::cli
