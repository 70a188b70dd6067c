// The terminal that this process was started on. Every orderly exit restores the terminal.
#pragma once

#include <memory>
#include <string_view>

#include <termios.h>

#include "base/result.h"
#include "perdure/verbs/attach/attach_view.h"

namespace perdure::cli {

// Raw key presses without echo; pasted text is marked. The destructor restores the terminal.
class RawTerminal {
 public:
  // `unavailable` if the standard input is not a terminal.
  static Result<std::unique_ptr<RawTerminal>> enter();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  explicit RawTerminal(const termios& before) : before_(before) {}

  termios before_;
};

// Size of the standard output; 80 by 24 if it is not a terminal or reports none.
ScreenSize terminal_size();
// Retries until all of it is written; on an error the rest is dropped.
void write_all(int descriptor, std::string_view text);

}  // namespace perdure::cli
