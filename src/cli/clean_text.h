// Makes an agent's text safe to print: nothing in it can move the cursor, change the terminal, hide
// text or turn it around. Everything that the user did not type goes through here. Characters that
// deceive are marked by their code (base/deceptive.h) rather than removed, so that they are seen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perdure::cli {

// Works on text in portions: an escape sequence may be cut anywhere.
class TextCleaner {
 public:
  enum class Hidden { marked, dropped };
  explicit TextCleaner(Hidden hidden = Hidden::marked) : hidden_(hidden) {}

  // What is left: printable characters, newlines and tabs. Well-formed UTF-8.
  std::string add(std::string_view portion);

 private:
  enum class At { text, escape, control, string_body, string_escape };

  void take(char32_t character, std::string_view bytes, std::string& out);
  void take_text(char32_t character, std::string_view bytes, std::string& out);

  Hidden hidden_;
  At at_ = At::text;
  std::size_t skipped_ = 0;  // characters of the sequence so far
};

// A whole text that is read: escape sequences are left out.
std::string clean_text(std::string_view text);
// JSON for a terminal: characters that could move its cursor, hide text or turn it around are
// written as escapes, which mean the same. For anything but a terminal JSON stays as it came.
std::string json_for_terminal(std::string_view json);
// A name or title: the same on one line, with look-alike letters marked. Newlines and tabs become
// spaces.
std::string clean_line(std::string_view text);
// What somebody approves: nothing is left out. Every control character and odd space is marked, but
// newlines and tabs are kept.
std::string exact_text(std::string_view text);
// What the user typed or pasted: hidden characters are left out, since they were not meant.
std::string clean_typed(std::string_view text);

}  // namespace perdure::cli
