// A session's limits, enforced by the kernel: its own control group, in the unified hierarchy if we
// may write to it, otherwise one in each of the older ones. If neither is possible, that is an
// error with the reason; limits are never applied in part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/posix/confine/cgroup.h"
#include "env/posix/files/fd.h"

namespace perdure {

// 0: no limit.
struct GroupLimits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
  std::uint64_t cpu_percent = 0;  // 100: one whole CPU
  bool any() const { return memory_bytes != 0 || processes != 0 || cpu_percent != 0; }
};

class LimitGroup {
 public:
  // Creates it below our own group, or beside it, and removes the empty groups of killed sessions.
  // unavailable: these limits cannot be enforced here; nothing was left behind.
  static Result<LimitGroup> create(const std::string& name, const GroupLimits& limits);
  // Whether create() would work; really tries it.
  static Result<> probe(const GroupLimits& limits);

  LimitGroup(LimitGroup&& other) noexcept = default;
  LimitGroup& operator=(LimitGroup&& other) noexcept;
  // Removes the groups unless they still contain processes.
  ~LimitGroup();

  // A process that writes "0" moves into the group.
  const std::vector<int>& members() const { return members_; }
  // nullopt without a memory limit.
  std::optional<OomCounter> oom_counter() const;
  // Which limits have refused or ended something so far, for people; empty: none.
  std::string met() const;

 private:
  LimitGroup() = default;
  Result<> add(const std::string& path);
  void remove();

  GroupLimits limits_;
  // Opened at the start, because its path may become read-only later.
  struct Folder {
    Fd parent;
    std::string name;
  };
  std::vector<Folder> folders_;
  std::vector<Fd> files_;
  std::vector<int> members_;
  std::string oom_file_;
  std::string pids_file_;
};

}  // namespace perdure
