// The audit trail: entries in one order over the whole store, durable, readable by every daemon of
// a shared store, and bounded by age and number. An action that is itself durable begins only after
// its entry is on disk; note() reports that.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/env.h"
#include "runtime/audit_entry.h"
#include "runtime/audit_index.h"
#include "runtime/refusals.h"
#include "store/store.h"

namespace perdure {

// Entries in one segment, which is then deleted as a whole.
inline constexpr std::uint64_t audit_segment_records = 4096;
// Older entries are deleted beyond this number, whatever their age.
inline constexpr std::uint64_t audit_records_max = 1'000'000;
inline constexpr std::int64_t audit_keep_days = 90;
// A read gives at most so many entries.
inline constexpr std::size_t audit_page_max = 1000;

class Audit {
 public:
  struct World {
    Clock& clock;
    Loop& loop;
    Store& store;
  };
  struct Setting {
    std::int64_t keep_days = audit_keep_days;
    std::uint64_t segment_records = audit_segment_records;
    std::uint64_t records_max = audit_records_max;
    std::string node = {};  // this daemon's name among several
    // Called with each refusal that gets an entry, for the log. May be null.
    std::function<void(const AuditEntry& refusal)> on_refusal = nullptr;
  };
  // Reads the end of the trail, whatever its length. `damaged` when its index cannot be read.
  static Result<std::unique_ptr<Audit>> open(World world, Setting setting);
  Audit(World world, Setting setting);
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Adds an entry. `done` gets its number once it is on disk; or an error, and then it is not there
  // and the action must not begin. Without `done` nobody waits; if such an entry cannot be written,
  // a later one says how many are missing.
  using OnNoted = std::move_only_function<void(Result<Seq>)>;
  void note(AuditEntry entry, OnNoted done = nullptr);
  // For what was refused: equal ones are counted and get one entry now and then.
  void note_refusal(AuditEntry entry);

  // The number of the oldest entry that is kept, and of the newest; 0: there is none.
  Seq first() const;
  Seq last() const;
  struct Page {
    std::vector<AuditRecord> records;  // ascending; numbers may have gaps after damage
    // Up to which number the page looked; the next one begins behind it.
    Seq read_to = 0;
  };
  // Entries with numbers above `after`, at most `limit`.
  Result<Page> read(Seq after, std::size_t limit) const;
  // The number of the last entry from before `since`: reading begins behind it.
  Result<Seq> last_before(Timestamp since) const;

  // Called after each commit, until the returned number is given to unwatch().
  std::uint64_t watch(std::function<void()> changed);
  void unwatch(std::uint64_t number) { watchers_.erase(number); }

  // Reads what other daemons of a shared store added.
  Result<> catch_up();

 private:
  struct Waiting {
    AuditEntry entry;
    Timestamp at;
    OnNoted done;
    int tries = 0;
  };
  struct Batch {
    std::vector<Waiting> taken;
    Seq first = 0;
    Hash hash;
  };

  Result<> load();
  void accept(AuditEntry entry, OnNoted done);
  void schedule();
  void pump();
  bool needs_segment() const;
  void open_segment();
  // Deletes the segments that are too old and takes them out of the index.
  bool drop_old(AuditIndex& index);
  void write_index(AuditIndex index);
  void write_entries();
  void append(Append append, std::move_only_function<void(const Result<>&)> done);
  void on_written(Batch batch, const Result<>& result);
  void on_refused(Batch batch, const Error& error);
  void give_up(std::deque<Waiting> waiting, const Error& error);
  Result<> read_segment(const AuditSegment& segment, Seq end, std::size_t limit, Page& page) const;
  void arm_refusals();
  void arm_care();
  void call_watchers();

  World world_;
  Setting setting_;
  AuditIndex index_;
  AuditTail index_tail_;
  AuditTail tail_;          // of the last segment
  bool must_open_ = false;  // the last segment cannot be continued
  bool in_flight_ = false;
  bool scheduled_ = false;
  std::deque<Waiting> inbox_;
  std::uint64_t lost_ = 0;  // entries nobody waited for and that could not be written
  // Apart, so that no number of other refusals uses up what is kept for those of logins.
  Refusals login_refusals_{"sign_in.refuse"};
  Refusals refusals_{"request.refuse"};
  Loop::TimerId refusal_timer_ = 0;
  Loop::TimerId care_timer_ = 0;
  std::map<std::uint64_t, std::function<void()>> watchers_;
  std::uint64_t last_watcher_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
