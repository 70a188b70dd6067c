// Control groups, as far as a session needs them: a group of its own that can be killed as a whole,
// and the counter of out-of-memory kills. Both hierarchies are known; where there is none, or none
// that we may write to, that is an answer and not a failure of the session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env_posix/fd.h"

namespace perdure {

// Our own place in the hierarchies, as folders that may or may not exist; empty: not mounted.
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
// Of this process; both empty where /proc does not tell.
CgroupPlaces own_cgroups();

// Our own place in an older hierarchy, by its controller; empty: it is not mounted.
std::string own_cgroup_v1(std::string_view controller);
// The number behind a word at the beginning of a line of a small file.
std::optional<std::uint64_t> counter_of(const std::string& path, std::string_view word);

// Counts kills by the kernel for want of memory in our group, or on the whole machine where groups
// do not count.
class OomCounter {
 public:
  enum class Scope { group, machine };
  // The best file that this machine has.
  static OomCounter find();
  // A file with a line `oom_kill N`, and whose kills that counts.
  explicit OomCounter(std::string path, Scope scope = Scope::group)
      : path_(std::move(path)), scope_(scope) {}
  // None: the file does not tell.
  std::optional<std::uint64_t> read() const;
  Scope scope() const { return scope_; }

 private:
  std::string path_;
  Scope scope_;
};

// Groups of sessions have names that begin so: those with limits, and those that only keep the
// processes of an execution together where no process namespace does.
inline constexpr std::string_view limit_group_prefix = "perdure_limit_";
inline constexpr std::string_view session_group_prefix = "perdure_session_";
// Ends every process in the groups of that execution, below our own group or beside it. Where there
// is no such group nothing happens.
void kill_session_groups(std::string_view exec);
// Removes these groups as soon as they are empty; one that is not empty in time stays.
void remove_session_groups(std::string_view exec);
// Whether a process is in one, by the text of its /proc/PID/cgroup.
bool names_session_group(std::string_view membership);

// A v2 group below our own. It stays until remove(): whoever finds its name after a crash can kill
// what it holds.
class Cgroup {
 public:
  // Makes it, or takes over the one of that name. unavailable, with the reason: this machine has no
  // unified hierarchy that we may write to, or one that cannot kill.
  static Result<Cgroup> create(const std::string& name);

  // For writing "0": whoever does that moves into the group.
  const Fd& members() const { return members_; }
  // Ends every process in it, those that left their session or group too. They may still be
  // leaving when it returns: see is_empty().
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
  // Opened at the start: by their paths nothing may be changeable any more.
  Fd parent_;
  Fd members_;
  Fd kill_;
};

}  // namespace perdure
