// What a session may use, kept by the kernel: a control group of its own, in the unified hierarchy
// where we may write to it, else one in each of the older ones. Where neither can be had that is an
// error with the reason; nothing is limited by half.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env_posix/cgroup.h"
#include "env_posix/fd.h"

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
  // Makes it below our own group, or beside it. Empty ones that killed sessions left are taken
  // away. unavailable: these limits cannot be kept here; nothing was left behind.
  static Result<LimitGroup> create(const std::string& name, const GroupLimits& limits);
  // Whether create() would work, tried for real.
  static Result<> probe(const GroupLimits& limits);

  LimitGroup(LimitGroup&& other) noexcept = default;
  LimitGroup& operator=(LimitGroup&& other) noexcept;
  // The groups go, unless somebody is still in them.
  ~LimitGroup();

  // For writing "0": whoever does that moves into the group.
  const std::vector<int>& members() const { return members_; }
  // Nothing without a limit of memory.
  std::optional<OomCounter> oom_counter() const;
  // What was refused or ended at a limit so far, for people; empty: nothing.
  std::string met() const;

 private:
  LimitGroup() = default;
  Result<> add(const std::string& path);
  void remove();

  GroupLimits limits_;
  // Opened at the start: by its path nothing may be changeable any more.
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
