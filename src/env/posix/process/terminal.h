// A pseudo terminal: the master for us, the other end for a child. The child's end is opened
// through the master, so that no path of /dev/pts is needed.
#pragma once

#include "base/result.h"
#include "env/posix/files/fd.h"
#include "env/process.h"

namespace perdure {

struct Terminal {
  Fd master;
  Fd child_end;  // above 2; not our controlling terminal
};

Result<Terminal> open_terminal(TerminalSize size);

// The foreground programs get SIGWINCH. No effect after a hang-up.
void resize_terminal(const Fd& master, TerminalSize size);

}  // namespace perdure
