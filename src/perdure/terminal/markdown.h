// Simple Markdown for a terminal: headings, bold, italic, code, fences, lists, quotes, rules. Works
// line by line, so that text can be shown while it streams; unknown marks stay as they are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "perdure/terminal/style.h"

namespace perdure::cli {

class Markdown {
 public:
  explicit Markdown(Style style) : style_(style) {}

  // One complete, cleaned line without its newline; returns rows of at most `cells` cells.
  std::vector<std::string> line(std::string_view text, std::size_t cells);
  // The same for an incomplete line: does not change the state.
  std::vector<std::string> partial(std::string_view text, std::size_t cells) const;
  // The text has ended: closes an open fence.
  void reset() { fence_.clear(); }

 private:
  std::vector<std::string> render(std::string_view text, std::size_t cells,
                                  std::string& fence) const;
  std::vector<std::string> fenced(std::string_view text, std::size_t cells) const;

  Style style_;
  std::string fence_;  // mark that closes the open fence; empty: none is open
};

// Bold, italic and code within one line.
std::string inline_markdown(const Style& style, std::string_view text);

}  // namespace perdure::cli
