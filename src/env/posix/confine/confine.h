// Namespaces for this process, which it and its later children cannot leave. Descriptors that are
// already open keep their targets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

// How far agents are separated from their daemon.
enum class ConfinementLevel : std::uint8_t {
  none,     // an agent is a plain process of the daemon's user
  partial,  // some of it: the reason names the rest
  full,     // own user, mount and process namespaces: none of them can be left
};
std::string_view confinement_name(ConfinementLevel level);

struct Confinement {
  ConfinementLevel level = ConfinementLevel::none;
  std::string reason;  // the missing parts, for people; empty with `full`
  bool has_process_namespace = false;
};

struct ConfinedProcess {
  Confinement confinement;
  // The pid of the continuing process as its starter sees it; in its own process namespace it is 1.
  std::int64_t pid = 0;
};

// What becomes of the process that called enter_namespaces().
enum class CallingProcess : std::uint8_t {
  leaves,  // it exits with 0 as soon as another one goes on
  waits,   // it exits when that one does, with the same code; killed, it takes that one along
};

// Goes on in a new process that is the first of a process namespace: when it ends, for whatever
// reason, the kernel ends everything below it, and nothing below can end it. It has its own mounts
// and its own /proc, and is somebody without rights outside. The process that called this never
// returns.
// Where the kernel allows less, the caller itself goes on with a mount namespace alone, or with
// nothing. limit_reached: it allows more, but everything is used up just now. Call it with one
// thread, before anything is opened that counts processes.
Result<ConfinedProcess> enter_namespaces(CallingProcess then = CallingProcess::leaves);

// The level that enter_namespaces() would reach; tried in a child.
Confinement try_namespaces();

// Only a mount namespace, for this process and its children. Needs root or a kernel that allows
// unprivileged user namespaces; otherwise `unavailable` with the reason, and nothing has changed.
// limit_reached as above. Call it with one thread.
Result<> enter_mount_namespace();

}  // namespace perdure
