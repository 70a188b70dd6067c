// A disk in memory that fails on request. Each file has what was synced and, behind it, the changes
// since: a power cut keeps, loses, tears or garbles exactly those. A failed sync makes no later one
// good: its changes stay in doubt until they are written again, as on Linux. Deterministic by seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

enum class DiskOp : std::uint8_t { open, read, write, sync, truncate, remove, rename };

// A set of kinds of operation.
class DiskOps {
 public:
  constexpr DiskOps(std::initializer_list<DiskOp> ops) {
    for (DiskOp op : ops) bits_ |= 1U << static_cast<unsigned>(op);
  }
  static constexpr DiskOps all() {
    return {DiskOp::open,     DiskOp::read,   DiskOp::write, DiskOp::sync,
            DiskOp::truncate, DiskOp::remove, DiskOp::rename};
  }
  constexpr bool has(DiskOp op) const { return (bits_ >> static_cast<unsigned>(op) & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

enum class FaultKind {
  eio,
  full,         // a write fails for want of space; other operations fail as with eio
  short_write,  // half of the bytes are written, then as full
  full_behind,  // as full, but the bytes are there: stale ones in their place were the same
  power_cut,    // from here on nothing reaches the disk and everything fails, until crash()
};

enum class FaultTime { once, from_then_on };

// Which operation fails, and how. `at` counts the operations in `ops` from when the plan was made.
struct FaultPlan {
  std::uint64_t at = 0;  // 1: the next one; 0: none
  DiskOps ops = DiskOps::all();
  FaultKind kind = FaultKind::eio;
  FaultTime time = FaultTime::once;
};

// What the disk holds after a crash, of the changes that were not synced.
enum class CrashOutcome {
  process_only,  // the machine stays up: all of them are still in the page cache, still unsynced
  kept,          // all reached the disk
  lost,          // none did
  torn,          // of each, some 512-byte sectors did
  garbage,       // of each, some sectors did, some did not, some hold random bytes
};

struct LoggedOp {
  DiskOp op;
  bool failed;
  std::string file;
  std::uint64_t offset = 0;  // of a write or read; the new size of a truncate
  std::uint64_t bytes = 0;
};

// One file. Owned by the disk and by every handle that is open on it.
class DiskFile {
 public:
  explicit DiskFile(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // What a process sees.
  std::string& current() { return current_; }

 private:
  friend class FaultDisk;

  enum class State : std::uint8_t { unsynced, doubtful, synced };
  struct Change {
    State state = State::unsynced;
    bool is_truncate = false;
    std::uint64_t offset = 0;  // the new size of a truncate
    std::string bytes;
  };

  std::string name_;
  std::string current_;
  std::string durable_;
  std::vector<Change> changes_;  // since durable_, in order
};

// Not thread-safe: FaultVfs holds its lock around every call.
class FaultDisk {
 public:
  explicit FaultDisk(std::uint64_t seed) : random_(seed) {}

  // Replaces the plan and starts its count anew.
  void plan(FaultPlan plan);
  // Whether the planned operation was reached.
  bool fault_hit() const { return fault_hit_; }
  // The operations since the plan was made that it counts.
  std::uint64_t ops_counted() const { return counted_; }
  // Writes that would let all files together grow beyond this fail with `full`. Nothing: no bound.
  void set_capacity(std::optional<std::uint64_t> bytes) { capacity_bytes_ = bytes; }
  std::uint64_t bytes_used() const;

  // Everything that was asked since clear_log(), in order.
  const std::vector<LoggedOp>& log() const { return log_; }
  void clear_log();
  // DISK1: how many syncs were asked for after the first one that failed, in the log.
  std::uint64_t syncs_after_failed_sync() const { return syncs_after_failed_; }
  bool sync_has_failed() const { return sync_has_failed_; }

  // Ends this life of the machine, or of the process. Removes the plan and the capacity.
  void crash(CrashOutcome outcome);
  // Counts crashes; what was opened in an earlier life is of no use any more.
  std::uint64_t life() const { return life_; }

  // For damage: the bytes of a file as a process sees them, and a silent change of them on the
  // disk.
  std::optional<std::string> contents(std::string_view name) const;
  void overwrite(std::string_view name, std::uint64_t offset, std::string_view bytes);
  // Puts a file there, synced.
  void put(std::string name, std::string bytes);
  std::vector<std::string> names() const;

  // The operations. Each counts, logs, and gives the fault it met, if any.
  struct Opened {
    std::shared_ptr<DiskFile> file;  // null: it failed, or is not there and was not to be made
    std::optional<FaultKind> fault;
  };
  enum class OpenMode { existing, create };
  Opened open(const std::string& name, OpenMode mode);
  // Does not read: `current()` has the bytes.
  std::optional<FaultKind> read(DiskFile& file, std::uint64_t offset, std::uint64_t bytes);
  std::optional<FaultKind> write(DiskFile& file, std::uint64_t offset, std::string_view bytes);
  std::optional<FaultKind> truncate(DiskFile& file, std::uint64_t size);
  // The first sync of a new file syncs the folder too, as SQLite's unix VFS does for a journal and
  // a WAL: all names are durable then.
  std::optional<FaultKind> sync(const std::shared_ptr<DiskFile>& file);
  // As a plain fdatasync: the bytes, and no name.
  std::optional<FaultKind> sync_bytes(const std::shared_ptr<DiskFile>& file);
  // As an fsync of a folder: the names that begin so, and no bytes.
  std::optional<FaultKind> sync_names(const std::string& prefix);
  // One that is not there is left alone.
  struct Renaming {
    std::string from;
    std::string to;
  };
  std::optional<FaultKind> rename(const Renaming& names);
  // Whether the removal syncs the folder.
  enum class RemoveMode { unsynced, synced };
  std::optional<FaultKind> remove(const std::string& name, RemoveMode mode);
  bool exists(std::string_view name) const { return names_.contains(name); }
  std::optional<std::uint64_t> size_of(std::string_view name) const;

 private:
  std::optional<FaultKind> count(LoggedOp op);
  std::optional<FaultKind> settle_sync(DiskFile& file);
  static void apply(std::string& image, const DiskFile::Change& change);
  void apply_torn(std::string& image, const DiskFile::Change& change, CrashOutcome outcome);
  void settle(DiskFile& file, CrashOutcome outcome);
  void settle_names(CrashOutcome outcome);
  bool flip() { return (random_() & 1) != 0; }

  using Names = std::map<std::string, std::shared_ptr<DiskFile>, std::less<>>;

  std::mt19937_64 random_;
  Names names_;          // as a process sees them
  Names durable_names_;  // as they are on the disk
  FaultPlan plan_;
  std::uint64_t counted_ = 0;
  bool fault_hit_ = false;
  bool power_is_cut_ = false;
  std::optional<std::uint64_t> capacity_bytes_;
  std::vector<LoggedOp> log_;
  bool sync_has_failed_ = false;
  std::uint64_t syncs_after_failed_ = 0;
  std::uint64_t life_ = 1;
};

}  // namespace perdure
