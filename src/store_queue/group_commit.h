// How a group of appends becomes durable when the disk may be full (DISK2): all together if they
// fit, else the essential ones from the engine's reserve, and everybody else is refused until there
// is room again. The rules are the same for every engine; the bytes are the engine's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store_queue/append_queue.h"

namespace perdure {

// What an engine does for the rules. All of it under the engine's own lock.
class GroupTarget {
 public:
  virtual ~GroupTarget() = default;

  // On success each append is durable, or refused for a reason of its own. After an error nothing
  // of the group is there and no append is refused; if nobody can know that, the target has failed.
  virtual Result<> write_group(std::span<PendingAppend* const> group) = 0;
  // Room for the essential appends. disk_full when there is none.
  virtual Result<> make_reserve() = 0;
  virtual Result<> release_reserve() = 0;
  // After it nothing is written or answered any more.
  virtual void fail_forever(const Error& error) = 0;
  virtual bool has_failed() const = 0;
};

class GroupCommit {
 public:
  explicit GroupCommit(GroupTarget& target) : target_(target) {}

  // Afterwards each append is durable or refused, unless the target has failed.
  void run(std::vector<PendingAppend>& group);
  // Whether there is room again.
  bool probe_space();

  bool is_full() const { return full_; }
  void set_full() { full_ = true; }

 private:
  void refuse_while_full(std::vector<PendingAppend>& group);
  void retry_essential(std::span<PendingAppend* const> group, const Error& full);
  void retry_each(std::span<PendingAppend* const> group);

  GroupTarget& target_;
  std::uint64_t refusals_ = 0;
  bool full_ = false;
};

// Refuses what is not refused yet: the journal was taken away under the daemon.
void refuse_gone(std::vector<PendingAppend>& group);

}  // namespace perdure
