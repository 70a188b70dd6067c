// How a group of appends becomes durable when the disk may be full (DISK2): all of it if it fits.
// Otherwise the essential ones are written from the engine's reserve, and the others fail until
// there is space again. The rules are the same for every engine; only the writing is the engine's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/queue/append_queue.h"

namespace perdure {

// The operations that an engine provides. All are called under the engine's own lock.
class GroupTarget {
 public:
  virtual ~GroupTarget() = default;

  // On success each append is durable, or refused for a reason of its own. On an error nothing of
  // the group is stored and no append is refused; if that is uncertain, the target has failed.
  virtual Result<> write_group(std::span<PendingAppend* const> group) = 0;
  // Reserves space for the essential appends; disk_full if there is none.
  virtual Result<> make_reserve() = 0;
  virtual Result<> release_reserve() = 0;
  // After this nothing is written or answered.
  virtual void fail_forever(const Error& error) = 0;
  virtual bool has_failed() const = 0;
};

class GroupCommit {
 public:
  explicit GroupCommit(GroupTarget& target) : target_(target) {}

  // Afterwards each append is durable or refused, unless the target has failed.
  void run(std::vector<PendingAppend>& group);
  // Whether the disk has space again.
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

// Refuses everything not refused yet: the journal was removed while the daemon ran.
void refuse_gone(std::vector<PendingAppend>& group);

}  // namespace perdure
