// Turns bytes from a terminal into keys. A sequence may arrive in portions; a paste is one key, so
// that nothing in it acts as a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perdure::cli {

struct Key {
  enum class Kind {
    text,   // characters to insert into the line
    paste,  // the same, from the clipboard; newlines stay
    enter,
    newline,  // alt-enter
    control,  // text holds the letter: 'c' for Ctrl-C, ']' for Ctrl-]
    escape,
    backspace,
    remove,
    left,
    right,
    up,
    down,
    page_up,
    page_down,
    back_tab,  // shift-tab
    home,
    end,
    word_left,
    word_right,
    remove_word,  // alt-backspace
  };
  Kind kind = Kind::text;
  std::string text;
  bool operator==(const Key&) const = default;
};

class KeyReader {
 public:
  // The keys completed by these bytes.
  std::vector<Key> feed(std::string_view bytes);
  // No byte followed for a moment: a pending escape character was the key itself.
  std::vector<Key> flush();
  bool is_between() const { return !pending_.empty(); }

 private:
  // Takes one key from the front of pending_; false if it needs more bytes.
  bool take(std::vector<Key>& out);
  bool take_escape(std::vector<Key>& out);
  bool take_control_sequence(std::vector<Key>& out);
  bool take_paste(std::vector<Key>& out);

  std::string pending_;
  bool in_paste_ = false;
};

}  // namespace perdure::cli
