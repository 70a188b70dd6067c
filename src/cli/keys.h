// Bytes from a terminal as keys. A sequence may come in portions; what is pasted is one key, so
// that nothing in it acts as a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perdure::cli {

struct Key {
  enum class Kind {
    text,   // characters to put into the line
    paste,  // the same, from the clipboard: newlines are newlines
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
  // The keys that these bytes complete.
  std::vector<Key> feed(std::string_view bytes);
  // Nothing came for a moment: an escape character on its own was the key.
  std::vector<Key> flush();
  bool is_between() const { return !pending_.empty(); }

 private:
  // Takes one key from the front of pending_; false when more bytes are needed.
  bool take(std::vector<Key>& out);
  bool take_escape(std::vector<Key>& out);
  bool take_control_sequence(std::vector<Key>& out);
  bool take_paste(std::vector<Key>& out);

  std::string pending_;
  bool in_paste_ = false;
};

}  // namespace perdure::cli
