// The audit trail: entries in one order for the whole store, durable, readable by every daemon of a
// shared store, and bounded by age and number. An action that is itself durable starts only after
// note() has reported that its entry is on disk.
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
#include "daemon/runtime/audit/audit_entry.h"
#include "daemon/runtime/audit/audit_index.h"
#include "daemon/runtime/audit/refusals.h"
#include "env/env.h"
#include "store/store.h"

namespace perdure {

// Entries per segment; segments are deleted whole.
inline constexpr std::uint64_t audit_segment_records = 4096;
// Older entries are deleted beyond this number, regardless of their age.
inline constexpr std::uint64_t audit_records_max = 1'000'000;
inline constexpr std::int64_t audit_keep_days = 90;
// The maximum number of entries per read.
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
    std::string node = {};  // this daemon's name, if there are several
    // Called for each refusal that gets an entry, for the log. May be null.
    std::function<void(const AuditEntry& refusal)> on_refusal = nullptr;
  };
  // Reads the end of the trail; its length does not matter. `damaged` if its index cannot be read.
  static Result<std::unique_ptr<Audit>> open(World world, Setting setting);
  Audit(World world, Setting setting);
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Adds an entry. `done` gets its number once it is on disk. After an error the entry does not
  // exist and the action must not start. An entry without `done` that cannot be written is lost; a
  // later one states how many are missing.
  using OnNoted = std::move_only_function<void(Result<Seq>)>;
  void note(AuditEntry entry, OnNoted done = nullptr);
  // For refusals: equal ones are counted and get an entry occasionally.
  void note_refusal(AuditEntry entry);

  // The numbers of the oldest and the newest entry; 0: there is none.
  Seq first() const;
  Seq last() const;
  struct Page {
    std::vector<AuditRecord> records;  // ascending; damage may leave gaps in the numbers
    // The last number examined; the next page starts after it.
    Seq read_to = 0;
  };
  // Entries with numbers above `after`, at most `limit`.
  Result<Page> read(Seq after, std::size_t limit) const;
  // The number of the last entry before `since`: start reading after it.
  Result<Seq> last_before(Timestamp since) const;

  // Called after each commit, until the returned number is passed to unwatch().
  std::uint64_t watch(std::function<void()> changed);
  void unwatch(std::uint64_t number) { watchers_.erase(number); }

  // Reads entries that other daemons of a shared store added.
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
  // Deletes expired segments and removes them from the index.
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
