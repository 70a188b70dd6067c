// The terminal that this process was started on. Whatever ends the process in good order gives the
// terminal back as it was.
#pragma once

#include <memory>
#include <string_view>

#include <termios.h>

#include "base/result.h"
#include "cli/attach_view.h"

namespace perdure::cli {

// Keys as they are pressed, without echo; pasted text is marked. Ended by dropping it.
class RawTerminal {
 public:
  // `unavailable` when the standard input is no terminal.
  static Result<std::unique_ptr<RawTerminal>> enter();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  explicit RawTerminal(const termios& before) : before_(before) {}

  termios before_;
};

// Of the standard output; 80 by 24 when that is no terminal, or does not say.
ScreenSize terminal_size();
// All of it, whatever it takes; what cannot be written is dropped.
void write_all(int descriptor, std::string_view text);

}  // namespace perdure::cli
