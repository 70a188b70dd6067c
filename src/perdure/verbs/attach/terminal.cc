#include "perdure/verbs/attach/terminal.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace perdure::cli {
namespace {

constexpr std::string_view paste_on = "\x1B[?2004h";
constexpr std::string_view paste_off = "\x1B[?2004l\x1B[?25h";

}  // namespace

Result<std::unique_ptr<RawTerminal>> RawTerminal::enter() {
  termios before{};
  if (::tcgetattr(STDIN_FILENO, &before) != 0) {
    return fail(Code::unavailable, std::string("this is not a terminal: ") + std::strerror(errno));
  }
  termios raw = before;
  raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) {
    return fail(Code::unavailable, std::string("set up the terminal: ") + std::strerror(errno));
  }
  write_all(STDOUT_FILENO, paste_on);
  return std::unique_ptr<RawTerminal>(new RawTerminal(before));
}

RawTerminal::~RawTerminal() {
  write_all(STDOUT_FILENO, paste_off);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

ScreenSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {.cells = size.ws_col, .rows = size.ws_row};
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(descriptor, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {
      pollfd wait{.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace perdure::cli
