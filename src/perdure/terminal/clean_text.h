// Makes an agent's text safe to print: nothing in it can move the cursor, change the terminal, hide
// text or reverse it. Everything that the user did not type passes through here. Deceptive
// characters are marked by their code (base/deceptive.h), not removed, so that they are visible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perdure::cli {

// Accepts text in portions: an escape sequence may be split anywhere.
class TextCleaner {
 public:
  enum class Hidden { marked, dropped };
  explicit TextCleaner(Hidden hidden = Hidden::marked) : hidden_(hidden) {}

  // Returns printable characters, newlines and tabs. Well-formed UTF-8.
  std::string add(std::string_view portion);

 private:
  enum class At { text, escape, control, string_body, string_escape };

  void take(char32_t character, std::string_view bytes, std::string& out);
  void take_text(char32_t character, std::string_view bytes, std::string& out);

  Hidden hidden_;
  At at_ = At::text;
  std::size_t skipped_ = 0;  // characters of the sequence so far
};

// A complete text for reading: escape sequences are removed.
std::string clean_text(std::string_view text);
// JSON for a terminal: characters that could move the cursor, hide text or reverse it become
// equivalent escapes. If the output is not a terminal, JSON stays as it came.
std::string json_for_terminal(std::string_view json);
// A name or title: like clean_text, but on one line and with look-alike letters marked. Newlines
// and tabs become spaces.
std::string clean_line(std::string_view text);
// Text that a person approves: nothing is removed. Every control character and odd space is marked,
// except newlines and tabs.
std::string exact_text(std::string_view text);
// Text that the user typed or pasted: hidden characters are removed, since they were unintended.
std::string clean_typed(std::string_view text);

}  // namespace perdure::cli
