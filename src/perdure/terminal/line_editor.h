// The prompt line: text, a cursor and a history. Pure: takes keys, returns text.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perdure/terminal/keys.h"

namespace perdure::cli {

class LineEditor {
 public:
  // Returns the text if the key was Enter and the text is not blank; the line is then empty again.
  std::optional<std::string> press(const Key& key);

  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }  // byte offset, at a character boundary
  bool is_empty() const { return text_.empty(); }
  void clear();

  // The line as rows of at most `cells` cells, and the cursor's place in them.
  struct Layout {
    std::vector<std::string> rows;
    std::size_t row = 0;
    std::size_t column = 0;
  };
  Layout layout(std::size_t cells) const;

 private:
  void insert(std::string_view text);
  void edit(const Key& key);
  void control(char letter);
  void remove(std::size_t from, std::size_t to);
  void vertical(int by);
  void recall(int by);
  std::size_t before(std::size_t at) const;
  std::size_t behind(std::size_t at) const;
  std::size_t word_before(std::size_t at) const;
  std::size_t word_behind(std::size_t at) const;
  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;

  std::string text_;
  std::size_t cursor_ = 0;
  std::string killed_;
  std::deque<std::string> history_;
  std::size_t place_ = 0;  // position in the history; its size: the line being written
  std::string unsent_;     // that line, while the history is shown
};

}  // namespace perdure::cli
