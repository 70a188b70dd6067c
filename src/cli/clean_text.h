// Makes an agent's text safe to print: nothing in it can move the cursor, change the terminal, hide
// text or turn it around. Everything that was not typed by the user goes through here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perdure::cli {

// Works on text in portions: an escape sequence may be cut anywhere.
class TextCleaner {
 public:
  // What is left: printable characters, newlines and tabs. Well-formed UTF-8.
  std::string add(std::string_view portion);

 private:
  enum class At { text, escape, control, string_body, string_escape };

  void take(char32_t character, std::string_view bytes, std::string& out);
  void take_text(char32_t character, std::string_view bytes, std::string& out);

  At at_ = At::text;
  std::size_t skipped_ = 0;  // characters of the sequence so far
};

// A whole text.
std::string clean_text(std::string_view text);
// The same on one line: newlines and tabs become spaces.
std::string clean_line(std::string_view text);

}  // namespace perdure::cli
