// A disk in memory that fails on request. Each file has its synced content and the changes after
// it: a power cut keeps, loses, tears or garbles exactly those. No later sync repairs a failed one:
// its changes stay in doubt until they are written again, as on Linux. Deterministic by seed.
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

// A set of operation kinds.
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
  full,         // a write fails for lack of space; other operations fail as with eio
  short_write,  // half of the bytes are written, then as full
  full_behind,  // as full, but the data is correct: the stale bytes were the same
  power_cut,    // from here on nothing reaches the disk and everything fails, until crash()
};

enum class FaultTime { once, from_then_on };

// Which operation fails, and how. `at` counts the operations in `ops` since the plan was made.
struct FaultPlan {
  std::uint64_t at = 0;  // 1: the next one; 0: none
  DiskOps ops = DiskOps::all();
  FaultKind kind = FaultKind::eio;
  FaultTime time = FaultTime::once;
};

// The fate of unsynced changes in a crash.
enum class CrashOutcome {
  process_only,  // the machine stays up: all changes stay in the page cache, unsynced
  kept,          // all reached the disk
  lost,          // none did
  torn,          // some 512-byte sectors of each did
  garbage,       // some sectors of each did, some did not, some hold random bytes
};

struct LoggedOp {
  DiskOp op;
  bool failed;
  std::string file;
  std::uint64_t offset = 0;  // of a write or read; the new size of a truncate
  std::uint64_t bytes = 0;
};

// One file. Owned by the disk and by every open handle.
class DiskFile {
 public:
  explicit DiskFile(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // The contents as a process sees them.
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

  // Replaces the plan and restarts its count.
  void plan(FaultPlan plan);
  // Whether the planned operation was reached.
  bool fault_hit() const { return fault_hit_; }
  // How many operations the plan has counted.
  std::uint64_t ops_counted() const { return counted_; }
  // Writes that would grow the total beyond this fail with `full`. Absent: no limit.
  void set_capacity(std::optional<std::uint64_t> bytes) { capacity_bytes_ = bytes; }
  std::uint64_t bytes_used() const;

  // All operations since clear_log(), in order.
  const std::vector<LoggedOp>& log() const { return log_; }
  void clear_log();
  // DISK1: how many syncs in the log came after the first failed one.
  std::uint64_t syncs_after_failed_sync() const { return syncs_after_failed_; }
  bool sync_has_failed() const { return sync_has_failed_; }

  // Ends this life of the machine or process. Removes the plan and the capacity.
  void crash(CrashOutcome outcome);
  // Counts crashes; handles opened in an earlier life are unusable.
  std::uint64_t life() const { return life_; }

  // For damage: a file's bytes as a process sees them, and a silent change of them on disk.
  std::optional<std::string> contents(std::string_view name) const;
  void overwrite(std::string_view name, std::uint64_t offset, std::string_view bytes);
  // Creates a file, synced.
  void put(std::string name, std::string bytes);
  std::vector<std::string> names() const;

  // The operations. Each counts, logs, and returns the fault it hit, if any.
  struct Opened {
    std::shared_ptr<DiskFile> file;  // null: it failed, or it does not exist and was not created
    std::optional<FaultKind> fault;
  };
  enum class OpenMode { existing, create };
  Opened open(const std::string& name, OpenMode mode);
  // Does not read: `current()` has the bytes.
  std::optional<FaultKind> read(DiskFile& file, std::uint64_t offset, std::uint64_t bytes);
  std::optional<FaultKind> write(DiskFile& file, std::uint64_t offset, std::string_view bytes);
  std::optional<FaultKind> truncate(DiskFile& file, std::uint64_t size);
  // The first sync of a new file also syncs the folder, like SQLite's unix VFS for a journal and a
  // WAL: all names are durable then.
  std::optional<FaultKind> sync(const std::shared_ptr<DiskFile>& file);
  // Like fdatasync: the bytes, but no names.
  std::optional<FaultKind> sync_bytes(const std::shared_ptr<DiskFile>& file);
  // Like fsync of a folder: the names with this prefix, but no bytes.
  std::optional<FaultKind> sync_names(const std::string& prefix);
  // Does nothing if the file does not exist.
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
  Names durable_names_;  // as they are on disk
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
