// Decides whether a session contains the calling process, by facts that no process can change: its
// process and user namespaces, and the agentctl among its ancestors. Its own environment variables
// and its pid prove nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "env/posix/files/fd.h"

namespace perdure {

struct CallerPlace {
  bool inside = true;   // true if it is not certainly outside
  std::string session;  // as its agentctl names it; empty: outside, or not known
  std::string reason;   // why a caller that may be outside counts as inside, for people
};

struct CallerRules {
  // Agents here have their own mounts but no process namespace, so a process with other mounts than
  // ours belongs to an agent.
  bool mounts_tell = false;
};

// A process by its number, which stays its own until `pidfd` has ended.
struct CallerProcess {
  std::int64_t pid = 0;  // 0: it lives in a process namespace that cannot be seen from ours
  int pidfd = -1;
};
CallerPlace place_of(const CallerProcess& process, const CallerRules& rules);

// Whether its namespaces or its control group alone put it into a session: a cheap look, and a
// "no" proves nothing.
bool is_plainly_inside(std::int64_t pid, const CallerRules& rules);

// Of the process that connected this unix socket: asked at accept, while it waits.
CallerPlace place_of_peer(int unix_socket, const CallerRules& rules);

}  // namespace perdure
