// An SQLite VFS over a FaultDisk: SQLite's disk operations go to the model, which fails where the
// test planned it. Locks and WAL shared memory work between this process's connections.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "testing/store/fault_disk.h"

namespace perdure {

class FaultVfs {
 public:
  // Registers a VFS under a unique name, with an empty disk. Also seeds SQLite's own generator, so
  // that equal runs write equal bytes.
  explicit FaultVfs(std::uint64_t seed = 1);
  // All connections must be closed first.
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  // Passes the disk to `use` while no connection is in an operation.
  template <class Use>
  auto with_disk(Use use) {
    std::lock_guard lock(mutex_);
    return use(disk_);
  }
  // The disk without a lock, for single-threaded tests.
  FaultDisk& disk() { return disk_; }

  // Stops the process or the machine now. From here on every open connection gets errors for
  // everything, and closing it changes nothing. Until the last of them is closed, nothing can be
  // opened or removed: SQLite does not say which connection is calling.
  void crash(CrashOutcome outcome);

 private:
  friend struct FaultVfsCalls;

  // One database's WAL shared memory and its eight locks.
  struct SharedMemory {
    std::vector<std::unique_ptr<std::byte[]>> regions;
    int shared[SQLITE_SHM_NLOCK] = {};
    bool exclusive[SQLITE_SHM_NLOCK] = {};
    int users = 0;
  };
  // The state of one sqlite3_file.
  struct Handle {
    FaultVfs* vfs = nullptr;
    std::shared_ptr<DiskFile> file;
    std::uint64_t life = 0;
    bool delete_on_close = false;
    int persist_wal = 0;
    int lock = SQLITE_LOCK_NONE;
    std::shared_ptr<SharedMemory> memory;
    unsigned shared_locks = 0;  // of the shared memory, as bits
    unsigned exclusive_locks = 0;
  };

  bool has_stale_handles() const;
  // Whether another connection to the same file holds at least this lock.
  bool other_holds(const Handle& handle, int lock) const;
  int lock(Handle& handle, int wanted);
  int lock_memory(Handle& handle, int offset, int count, int flags);
  void unlock_memory(Handle& handle, unsigned mask);
  void unmap_memory(Handle& handle);

  std::mutex mutex_;
  std::string name_;
  sqlite3_vfs vfs_{};
  FaultDisk disk_;
  std::mt19937_64 random_;
  std::vector<Handle*> handles_;
  std::map<std::string, std::shared_ptr<SharedMemory>> memories_;
  std::uint64_t temporary_files_ = 0;
};

}  // namespace perdure
