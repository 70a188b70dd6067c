// Whether a caller is a process of a session, by what no process can shed: the process and user
// namespaces that it lives in, and the agentctl that it descends from. Variables of its own
// environment and a number of its own prove nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "env_posix/fd.h"

namespace perdure {

struct CallerPlace {
  bool inside = true;   // of a session; also when that cannot be ruled out
  std::string session;  // as its agentctl names it; empty: outside, or not known
  std::string reason;   // why a caller that may be outside counts as inside, for people
};

struct CallerRules {
  // Agents here have mounts of their own and no process namespace: then other mounts than ours
  // are those of an agent.
  bool mounts_tell = false;
};

// A process by its number, which belongs to it for as long as `pidfd` has not ended.
struct CallerProcess {
  std::int64_t pid = 0;  // 0: outside of our process namespace, so in none of our sessions
  int pidfd = -1;
};
CallerPlace place_of(const CallerProcess& process, const CallerRules& rules);

// Whether its namespaces or its control group alone put it into a session: a cheap look, and a
// "no" proves nothing.
bool is_plainly_inside(std::int64_t pid, const CallerRules& rules);

// Of the process that connected this unix socket: asked at accept, while it waits.
CallerPlace place_of_peer(int unix_socket, const CallerRules& rules);

}  // namespace perdure
