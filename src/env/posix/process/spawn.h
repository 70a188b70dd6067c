// Starts a program. The child shares our memory until its exec, so that the size of this process
// has no cost. Until then it may only make system calls with data prepared for it.
#pragma once

#include <cstdint>
#include <span>

#include <sys/types.h>

#include "base/result.h"
#include "env/posix/files/fd.h"
#include "env/process.h"

namespace perdure {

// What happens to children when the thread that spawned them ends.
enum class ParentDeath : std::uint8_t { nothing, kill };

// Everything that is not in a SpawnSpec.
struct SpawnSetting {
  mode_t umask = 022;
  ParentDeath parent_death = ParentDeath::nothing;
  std::span<const int> cgroup_members;  // the cgroup.procs of groups that the child joins
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

// When this returns, the program is running (exec is done); after an error nothing is left of it.
// The child leads its own session and group, has default signals, none blocked, and no descriptors
// except stdio. not_found: no such program; denied: not allowed to run it or to enter the folder;
// invalid_argument: no such folder, a program of unknown format, or a string with a NUL in it;
// limit_reached: too many processes, or arguments and environment too long (X31).
Result<SpawnedChild> spawn_child(const SpawnSpec& spec, const SpawnStdio& stdio,
                                 const SpawnSetting& setting);

}  // namespace perdure
