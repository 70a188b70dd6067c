// The parts of control groups that a session needs: a separate group that can be killed as a whole,
// and the counter of out-of-memory kills. Supports both hierarchies. If none is mounted or
// writable, that is a result and not a failure of the session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/posix/files/fd.h"

namespace perdure {

// Our own place in the hierarchies, as folders that may not exist; empty: not mounted.
struct CgroupPlaces {
  std::string unified;    // v2
  std::string memory_v1;  // the memory controller of v1
  bool operator==(const CgroupPlaces&) const = default;
};

// The texts of /proc/self/mountinfo and /proc/self/cgroup.
struct CgroupTexts {
  std::string_view mounts;
  std::string_view membership;
};
CgroupPlaces find_cgroups(const CgroupTexts& texts);
// This process's places; both empty if /proc does not show them.
CgroupPlaces own_cgroups();

// Our own place in a v1 hierarchy, by its controller; empty: not mounted.
std::string own_cgroup_v1(std::string_view controller);
// The number after a word at the start of a line of a small file.
std::optional<std::uint64_t> counter_of(const std::string& path, std::string_view word);

// Counts the kernel's out-of-memory kills in our group, or on the whole machine if groups have no
// counter.
class OomCounter {
 public:
  enum class Scope { group, machine };
  // Chooses the best file that this machine has.
  static OomCounter find();
  // A file with a line `oom_kill N`, and the scope of its count.
  explicit OomCounter(std::string path, Scope scope = Scope::group)
      : path_(std::move(path)), scope_(scope) {}
  // nullopt: the file has no counter.
  std::optional<std::uint64_t> read() const;
  Scope scope() const { return scope_; }

 private:
  std::string path_;
  Scope scope_;
};

// Prefixes for the names of sessions' groups: those with limits, and those that only keep an
// execution's processes together without a process namespace.
inline constexpr std::string_view limit_group_prefix = "perdure_limit_";
inline constexpr std::string_view session_group_prefix = "perdure_session_";
// Kills every process in that execution's groups, below our own group or beside it. No effect
// without such a group.
void kill_session_groups(std::string_view exec);
// Removes these groups as soon as they are empty; one that is not empty in time stays.
void remove_session_groups(std::string_view exec);
// Whether a process is in one, by the text of its /proc/PID/cgroup.
bool names_session_group(std::string_view membership);

// A v2 group below our own. It exists until remove(), so that its members can be killed by its name
// after a crash.
class Cgroup {
 public:
  // Creates it, or takes over an existing one. unavailable, with the reason: this machine has no
  // unified hierarchy that we may write to, or one that cannot kill.
  static Result<Cgroup> create(const std::string& name);

  // A process that writes "0" moves into the group.
  const Fd& members() const { return members_; }
  // Kills every process in it, including those that left their session or process group. They may
  // still be exiting when it returns: see is_empty().
  Result<> kill();
  // No process is in it but zombies.
  Result<bool> is_empty() const;
  // conflict while there are processes in it.
  Result<> remove();

  const std::string& path() const { return path_; }

 private:
  Cgroup(std::string path, Fd parent, Fd members, Fd kill)
      : path_(std::move(path)),
        parent_(std::move(parent)),
        members_(std::move(members)),
        kill_(std::move(kill)) {}
  std::string path_;
  // Opened at the start, because their paths may become read-only later.
  Fd parent_;
  Fd members_;
  Fd kill_;
};

}  // namespace perdure
