// Namespaces of this process's own, which it and its later children cannot leave. Descriptors that
// are open already go on leading to what they led to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

// How far agents are kept apart from their daemon.
enum class ConfinementLevel : std::uint8_t {
  none,     // an agent is a plain process of the daemon's user
  partial,  // some of it: the reason says what is missing
  full,     // own user, mount and process namespaces: none of them can be left
};
std::string_view confinement_name(ConfinementLevel level);

struct Confinement {
  ConfinementLevel level = ConfinementLevel::none;
  std::string reason;  // what is missing, for people; empty with `full`
  bool has_process_namespace = false;
};

struct ConfinedProcess {
  Confinement confinement;
  // The number of the process that goes on, as its starter sees it: in a process namespace of its
  // own it is 1 for itself.
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

// A mount namespace alone, for this process and its children. Needs root or a kernel that lets
// everybody make user namespaces; `unavailable` with the reason otherwise, and nothing has changed.
// limit_reached as above. Call it with one thread.
Result<> enter_mount_namespace();

}  // namespace perdure
