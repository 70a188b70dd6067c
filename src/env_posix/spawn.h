// Starting a program. The child borrows our memory until it has exec'd, so that the size of this
// process costs nothing; until then it may only make system calls on what was prepared for it.
#pragma once

#include <cstdint>
#include <span>

#include <sys/types.h>

#include "base/result.h"
#include "env/process.h"
#include "env_posix/fd.h"

namespace perdure {

// What becomes of children when the thread that spawned them ends.
enum class ParentDeath : std::uint8_t { nothing, kill };

// Everything that is not in a SpawnSpec.
struct SpawnSetting {
  mode_t umask = 022;
  ParentDeath parent_death = ParentDeath::nothing;
  std::span<const int> cgroup_members;  // of groups that it moves to: their cgroup.procs
};

// The child's ends; all above 2. With a terminal all three are its one descriptor.
struct SpawnStdio {
  int input = -1;
  int output = -1;
  int error_output = -1;
};

struct SpawnedChild {
  pid_t pid = 0;
  Fd pidfd;
};

// The program is running (exec is done) when this returns; after an error nothing is left of it.
// The child leads a session and group of its own, has the default signals, none blocked, and no
// descriptor but its stdio. not_found: no such program; denied: not allowed to run it or to enter
// the folder; invalid_argument: no such folder, a program of no known format, or a string with a
// NUL in it; limit_reached: too many processes, or arguments and environment too long (X31).
Result<SpawnedChild> spawn_child(const SpawnSpec& spec, const SpawnStdio& stdio,
                                 const SpawnSetting& setting);

}  // namespace perdure
