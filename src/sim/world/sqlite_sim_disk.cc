// The simulated disk under the real SQLite engine, over the fault VFS. Faults are those of a disk:
// a failing sync or write, no space, a cut at the n-th operation of a commit, a checkpoint or a
// recovery; the engine's reaction is judged. A slow sync only delays the answers, since this
// engine's step blocks for its sync.
//
// The judge sees a mirror of what was acknowledged. After every crash a store is opened on a copy
// of the files and compared with the mirror, which then adds the batches that were in flight.
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "core/wire/search_text.h"
#include "sim/world/disk.h"
#include "sim/world/durable_mirror.h"
#include "sim/world/universe.h"
#include "store/sqlite/sqlite_store.h"
#include "testing/store/fault_vfs.h"

namespace perdure::sim {
namespace {

constexpr const char* database = "journal.db";
constexpr std::size_t reserve_bytes = 1UL << 20;
constexpr std::size_t flipped_text_bytes = 32;
constexpr int open_cuts_max = 2;
constexpr DiskOps changes = {DiskOp::write, DiskOp::sync, DiskOp::truncate, DiskOp::remove};

const char* outcome_name(CrashOutcome outcome) {
  switch (outcome) {
    case CrashOutcome::process_only: return "the process only";
    case CrashOutcome::kept: return "kept";
    case CrashOutcome::lost: return "lost";
    case CrashOutcome::torn: return "torn";
    case CrashOutcome::garbage: return "garbage";
  }
  CHECK(false);
}

// Shared by all lives of the daemon.
struct Ground {
  Ground(Universe& of, std::uint64_t seed)
      : universe(of), prng(seed ^ 0x5317e), looking(seed), vfs(seed), mirror(of.verdict) {}

  FaultDisk& disk() { return vfs.disk(); }

  Universe& universe;
  Prng prng;
  FaultVfs looking;  // for opening copies
  FaultVfs vfs;
  DurableMirror mirror;
  std::uint64_t cut_chance = 0;  // per step
};

class SqliteStepped final : public SteppedStore {
 public:
  SqliteStepped(Ground& ground, std::function<void(const Error&)> on_fatal, DiskUser user)
      : ground_(ground),
        on_fatal_(std::move(on_fatal)),
        user_(std::move(user)),
        life_(ground.disk().life()) {}

  Result<> open(SqliteOptions options) {
    options.on_fatal = [this](const Error& error) { take_fatal(error); };
    engine_ = TRY(SqliteStore::open(std::move(options)));
    return {};
  }

  Store& store() override { return *engine_; }
  void inject(CommitFault fault) override { fault_ = fault; }
  void append(Append batch, Store::Done done) override;
  Result<> remove(SessionId session) override;
  bool step() override;
  bool is_idle() const override { return has_failed_ || (waiting_ == 0 && held_.empty()); }
  bool idle_step() override;
  bool wants_idle_step() const override { return !has_failed_ && wants_idle_; }
  bool fails_by(CommitFault) const override { return false; }

  bool has_failed() const { return has_failed_; }
  // Nothing may be written once the disk's contents are unknown (DISK1).
  void check_silence() const;

 private:
  struct Held {
    Store::Done done;
    Result<> result;
  };

  bool is_over() const { return life_ != ground_.disk().life(); }
  bool is_cut() const {
    return plan_.kind == FaultKind::power_cut && !is_over() && ground_.disk().fault_hit();
  }
  void take_fatal(const Error& error);
  void take_answer(DurableMirror::BatchNumber number, Result<> result, Store::Done done);
  void run_held();
  FaultPlan draw_plan();
  void set_space();
  // Runs a part of the engine's work under the injected fault.
  template <class Work>
  bool run(Work&& work);

  Ground& ground_;
  std::function<void(const Error&)> on_fatal_;
  DiskUser user_;
  std::uint64_t life_;
  CommitFault fault_ = CommitFault::none;
  FaultPlan plan_;
  std::optional<std::uint64_t> full_at_bytes_;
  bool has_failed_ = false;
  bool wants_idle_ = true;
  std::size_t waiting_ = 0;  // unanswered batches
  std::vector<Held> held_;   // answers of a group with a slow sync
  std::unique_ptr<SqliteStore> engine_;
};

void SqliteStepped::append(Append batch, Store::Done done) {
  if (is_over()) return;
  const DurableMirror::BatchNumber number = ground_.mirror.begin(batch);
  ++waiting_;
  engine_->append(std::move(batch),
                  [this, number, done = std::move(done)](Result<> result) mutable {
                    take_answer(number, std::move(result), std::move(done));
                  });
}

void SqliteStepped::take_answer(DurableMirror::BatchNumber number, Result<> result,
                                Store::Done done) {
  if (is_over()) return;
  ground_.universe.verdict.expect(!has_failed_ && (!is_cut() || !result), "DISK1", [] {
    return std::string("a batch is answered although nobody knows what the disk holds");
  });
  if (has_failed_ || is_cut()) return;
  --waiting_;
  ground_.mirror.answered(number, result);
  if (fault_ == CommitFault::slow_sync) {
    held_.push_back({.done = std::move(done), .result = std::move(result)});
  } else {
    done(std::move(result));
  }
}

void SqliteStepped::run_held() {
  for (Held& one : std::exchange(held_, {})) {
    if (is_over()) return;
    one.done(std::move(one.result));
  }
}

Result<> SqliteStepped::remove(SessionId session) {
  const Result<> removed = engine_->remove(session);
  if (removed && !is_over()) ground_.mirror.remove(session);
  wants_idle_ = true;
  return removed;
}

void SqliteStepped::take_fatal(const Error& error) {
  if (is_over() || is_cut()) return;
  has_failed_ = true;
  on_fatal_(error);
}

FaultPlan SqliteStepped::draw_plan() {
  Prng& prng = ground_.prng;
  if (fault_ == CommitFault::eio_unknown) {
    if (prng.chance(700'000)) return {.at = 1, .ops = {DiskOp::sync}};
    return {.at = 1 + prng.below(6), .ops = {DiskOp::write}};
  }
  // Fails only once, so that there is space for essential appends.
  if (fault_ == CommitFault::disk_full && prng.chance(300'000)) {
    const bool is_half = prng.chance(500'000);
    return {.at = 1 + prng.below(8),
            .ops = {DiskOp::write},
            .kind = is_half ? FaultKind::short_write : FaultKind::full_behind};
  }
  if (ground_.universe.healed || !prng.chance(ground_.cut_chance)) return {};
  const std::uint64_t most = 2ULL << prng.below(8);
  return {.at = 1 + prng.below(most), .ops = changes, .kind = FaultKind::power_cut};
}

// A full disk holds no byte more than when it became full, including the engine's reserve; if only
// a single write is refused, the rest of the step has space.
void SqliteStepped::set_space() {
  FaultDisk& disk = ground_.disk();
  const std::string reserve = std::string(database) + ".reserve";
  if (fault_ != CommitFault::disk_full) {
    full_at_bytes_.reset();
  } else if (!full_at_bytes_) {
    full_at_bytes_ = disk.bytes_used() + reserve_bytes - disk.size_of(reserve).value_or(0);
  }
  disk.set_capacity(plan_.at == 0 ? full_at_bytes_ : std::nullopt);
}

template <class Work>
bool SqliteStepped::run(Work&& work) {
  if (is_over() || has_failed_) return false;
  plan_ = draw_plan();
  set_space();
  FaultDisk& disk = ground_.disk();
  disk.clear_log();
  disk.plan(plan_);
  const bool worked = std::forward<Work>(work)();
  if (is_over()) return worked;
  const bool was_cut = is_cut();
  const bool was_hit = disk.fault_hit();
  disk.plan({});
  if (was_cut) {
    user_.on_cut();
  } else if (was_hit && plan_.kind == FaultKind::eio) {
    ground_.universe.verdict.expect(has_failed_, "DISK1", [] {
      return std::string("a write or a sync failed and nobody was told");
    });
  }
  return worked;
}

bool SqliteStepped::step() {
  run_held();
  const bool worked = run([&] { return engine_->step(); });
  wants_idle_ = true;
  return worked;
}

// Several steps at once: the product runs one whenever it is idle, which is often.
bool SqliteStepped::idle_step() {
  const std::uint64_t count = 1 + ground_.prng.below(30);
  bool worked = false;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (run([&] { return engine_->idle_step(); })) worked = true;
    if (is_over() || has_failed_ || engine_->stats().disk_full) break;
  }
  if (!is_over() && !has_failed_) wants_idle_ = worked || engine_->stats().disk_full;
  return worked;
}

void SqliteStepped::check_silence() const {
  if (!has_failed_) return;
  bool failed = false;
  for (const LoggedOp& one : ground_.disk().log()) {
    ground_.universe.verdict.expect(!failed || !changes.has(one.op), "DISK1", [&] {
      return one.file + " is written to or synced after a write or a sync has failed";
    });
    failed = failed || (one.failed && changes.has(one.op));
  }
}

class SqliteSimDisk final : public Disk {
 public:
  SqliteSimDisk(Universe& universe, std::uint64_t seed);

  std::unique_ptr<SteppedStore> open(std::function<void(const Error&)> on_fatal,
                                     DiskUser user) override;
  void crash(CrashChoice choice) override;
  void crash_one(std::uint64_t, CrashChoice) override { CHECK(false, "one daemon owns the file"); }
  bool flip_bit(SessionId session, Seq seq) override;
  bool flip_snapshot_bit(SessionId session) override;

  Seq head(SessionId session) override { return ground_.mirror.model().head(session); }
  std::string_view record(SessionId session, Seq seq) override;
  std::optional<FrameCursor> cursor(SessionId session) override;
  bool is_open(SessionId session) override;
  bool has_open_sessions() override;
  std::size_t outbox_size(SessionId session) override;
  std::string owner(SessionId) override { return {}; }

 private:
  void open_whole(SqliteStepped& stepped);
  bool open_and_cut(SqliteStepped& stepped);
  void crash_with(CrashOutcome outcome);
  CrashOutcome draw_outcome(CrashChoice choice);
  void settle(CrashOutcome outcome);
  bool flip(std::string_view text);

  Ground ground_;
  SqliteOptions options_;
  SqliteStepped* stepped_ = nullptr;  // of the current or last life
  bool has_cached_tail_ = false;      // the last life's writes are only in the page cache
};

SqliteSimDisk::SqliteSimDisk(Universe& universe, std::uint64_t seed) : ground_(universe, seed) {
  universe.hears_late = true;
  Prng& prng = ground_.prng;
  if (prng.chance(600'000)) ground_.cut_chance = 20'000ULL >> prng.below(4);
  options_.path = database;
  options_.vfs = ground_.vfs.name();
  options_.search_piece = search_piece;
  options_.new_log_id = "simulated";
  options_.reserve_bytes = reserve_bytes;
  // From thresholds that trigger constantly to some that never trigger in a short run.
  options_.flush_bytes_min = 4096ULL << prng.below(6);
  options_.flush_bytes_max = options_.flush_bytes_min * 4;
  options_.flush_idle_bytes = prng.chance(500'000) ? 0 : options_.flush_bytes_min / 4;
  options_.checkpoint_bytes = (64ULL << 10) << prng.below(5);
  options_.checkpoint_idle_bytes = prng.chance(500'000) ? 0 : options_.checkpoint_bytes / 4;
  options_.group_bytes_max = 8192ULL << prng.below(8);
  options_.sessions_cached_max = 1 + prng.below(6);
  options_.readers_max = 1;
}

std::unique_ptr<SteppedStore> SqliteSimDisk::open(std::function<void(const Error&)> on_fatal,
                                                  DiskUser user) {
  for (int cuts = 0;; ++cuts) {
    auto stepped = std::make_unique<SqliteStepped>(ground_, on_fatal, user);
    const bool may_cut = !ground_.universe.healed && ground_.cut_chance > 0 && cuts < open_cuts_max;
    if (may_cut && open_and_cut(*stepped)) continue;
    if (!may_cut) open_whole(*stepped);
    has_cached_tail_ = false;
    stepped_ = stepped.get();
    return stepped;
  }
}

void SqliteSimDisk::open_whole(SqliteStepped& stepped) {
  const Result<> opened = stepped.open(options_);
  CHECK(opened.has_value(), opened ? "" : opened.error().message());
}

// Opens the store; true if the power was cut during or directly after it.
bool SqliteSimDisk::open_and_cut(SqliteStepped& stepped) {
  FaultDisk& disk = ground_.disk();
  Prng& prng = ground_.prng;
  if (prng.chance(ground_.cut_chance * 8)) {
    disk.plan({.at = 1 + prng.below(40), .ops = changes, .kind = FaultKind::power_cut});
  }
  const Result<> opened = stepped.open(options_);
  if (disk.fault_hit()) {
    const bool keeps = prng.chance(500'000);
    // Keep the page cache: the judge has seen its data, which only a completed open makes durable.
    crash_with(has_cached_tail_
                   ? CrashOutcome::process_only
                   : draw_outcome(keeps ? CrashChoice::keep_tail : CrashChoice::lose_tail));
    return true;
  }
  disk.plan({});
  CHECK(opened.has_value(), opened ? "" : opened.error().message());
  // Data that a recovery found in the page cache must be on disk when the recovery ends.
  if (!has_cached_tail_ || !prng.chance(300'000)) return false;
  crash_with(draw_outcome(CrashChoice::lose_tail));
  return true;
}

void SqliteSimDisk::crash(CrashChoice choice) {
  stepped_->check_silence();
  // After a failed sync the daemon exits on its own: the page cache stays.
  const bool machine_stays = stepped_->has_failed() && ground_.prng.chance(500'000);
  crash_with(machine_stays ? CrashOutcome::process_only : draw_outcome(choice));
}

void SqliteSimDisk::crash_with(CrashOutcome outcome) {
  ground_.vfs.crash(outcome);
  has_cached_tail_ = outcome == CrashOutcome::process_only;
  settle(outcome);
}

CrashOutcome SqliteSimDisk::draw_outcome(CrashChoice choice) {
  static constexpr CrashOutcome keeping[] = {CrashOutcome::process_only, CrashOutcome::kept};
  static constexpr CrashOutcome losing[] = {CrashOutcome::lost, CrashOutcome::torn,
                                            CrashOutcome::garbage};
  if (choice == CrashChoice::keep_tail) return keeping[ground_.prng.below(std::size(keeping))];
  return losing[ground_.prng.below(std::size(losing))];
}

void SqliteSimDisk::settle(CrashOutcome outcome) {
  FaultDisk& copy = ground_.looking.disk();
  std::uint64_t hash = 0;
  for (const std::string& name : ground_.disk().names()) {
    if (!name.starts_with(database) || name.ends_with(".reserve")) continue;
    std::string bytes = *ground_.disk().contents(name);
    hash ^= hash64(bytes);
    copy.put(name, std::move(bytes));
  }
  SqliteOptions options = options_;
  options.vfs = ground_.looking.name();
  options.reserve_bytes = 0;
  options.on_fatal = [](const Error& error) { CHECK(false, error.message()); };
  auto fresh = SqliteStore::open(std::move(options));
  const std::size_t under_way = ground_.mirror.under_way();
  std::size_t there = 0;
  if (fresh) {
    there = ground_.mirror.settle(**fresh);
  } else {
    ground_.universe.verdict.fail("DISK3", "does not open any more: " + fresh.error().message());
  }
  ground_.universe.trace.note("disk", hash, [&] {
    return "crash, what was not synced: " + std::string(outcome_name(outcome)) + "; " +
           std::to_string(there) + " of " + std::to_string(under_way) +
           " batches under way are there";
  });
  if (fresh) fresh->reset();
  for (const std::string& name : copy.names()) copy.remove(name, FaultDisk::RemoveMode::synced);
  copy.clear_log();
}

// Flips a bit of these bytes everywhere in the database file. Bytes that are only in the
// write-ahead log are not touched: a decayed log is rejected as a whole, which no daemon survives.
bool SqliteSimDisk::flip(std::string_view text) {
  const std::string bytes = *ground_.disk().contents(database);
  bool found = false;
  for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
    const char flipped = static_cast<char>(bytes[at] ^ 0x10);
    ground_.disk().overwrite(database, at, {&flipped, 1});
    found = true;
  }
  return found;
}

// Damages bytes that no other text contains, so that only this record is affected.
bool SqliteSimDisk::flip_bit(SessionId session, Seq seq) {
  if (seq == 0 || seq > head(session)) return false;
  const std::string_view bytes = record(session, seq);
  for (std::size_t at = 0; at + flipped_text_bytes <= bytes.size(); at += flipped_text_bytes / 2) {
    const std::string_view text = bytes.substr(at, flipped_text_bytes);
    if (ground_.mirror.texts_with(text) != 1 || !flip(text)) continue;
    ground_.mirror.set_damaged(session);
    ground_.mirror.set_snapshots_damaged(text);
    return true;
  }
  return false;
}

bool SqliteSimDisk::flip_snapshot_bit(SessionId session) {
  const SessionModel* const found = ground_.mirror.find(session);
  if (!found || !found->snapshot) return false;
  const std::string& bytes = found->snapshot->bytes;
  if (bytes.size() < 4 * flipped_text_bytes) return false;
  const std::string_view text =
      std::string_view(bytes).substr(bytes.size() / 2, flipped_text_bytes);
  if (ground_.mirror.texts_with(text) > 0 || !flip(text)) return false;
  ground_.mirror.set_snapshots_damaged(text);
  return true;
}

std::string_view SqliteSimDisk::record(SessionId session, Seq seq) {
  const SessionModel* const found = ground_.mirror.find(session);
  CHECK(found && seq > 0 && seq <= found->records.size());
  return found->records[seq - 1];
}

std::optional<FrameCursor> SqliteSimDisk::cursor(SessionId session) {
  const SessionModel* const found = ground_.mirror.find(session);
  return found ? found->cursor : std::nullopt;
}

bool SqliteSimDisk::is_open(SessionId session) {
  const SessionModel* const found = ground_.mirror.find(session);
  return found && found->listing && found->listing->open;
}

bool SqliteSimDisk::has_open_sessions() {
  for (const auto& [session, known] : ground_.mirror.model().sessions) {
    if (is_open(session)) return true;
  }
  return false;
}

std::size_t SqliteSimDisk::outbox_size(SessionId session) {
  const SessionModel* const found = ground_.mirror.find(session);
  return found ? found->outbox.size() : 0;
}

}  // namespace

std::unique_ptr<Disk> make_sqlite_disk(Universe& universe, std::uint64_t seed) {
  return std::make_unique<SqliteSimDisk>(universe, seed);
}

}  // namespace perdure::sim
