#include "env/posix/process/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

namespace perdure {

Result<Terminal> open_terminal(TerminalSize size) {
  Terminal terminal;
  terminal.master = Fd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.master) return system_failure("open a terminal");
  if (unlockpt(terminal.master.get()) != 0) return system_failure("unlock a terminal");
  const Fd end(ioctl(terminal.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!end) return system_failure("open a terminal's other end");
  terminal.child_end = Fd(fcntl(end.get(), F_DUPFD_CLOEXEC, 3));
  if (!terminal.child_end) return system_failure("move a descriptor");
  resize_terminal(terminal.master, size);
  return terminal;
}

void resize_terminal(const Fd& master, TerminalSize size) {
  const winsize size_now{.ws_row = size.rows, .ws_col = size.columns};
  ioctl(master.get(), TIOCSWINSZ, &size_now);
}

}  // namespace perdure
