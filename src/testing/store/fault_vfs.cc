#include "testing/store/fault_vfs.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.h"

namespace perdure {

namespace {

int error_of(DiskOp op, FaultKind kind) {
  const bool full =
      kind == FaultKind::full || kind == FaultKind::short_write || kind == FaultKind::full_behind;
  switch (op) {
    case DiskOp::open: return SQLITE_CANTOPEN;
    case DiskOp::read: return SQLITE_IOERR_READ;
    case DiskOp::write: return full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    case DiskOp::sync: return SQLITE_IOERR_FSYNC;
    case DiskOp::truncate: return SQLITE_IOERR_TRUNCATE;
    case DiskOp::remove: return SQLITE_IOERR_DELETE;
    case DiskOp::rename: break;  // SQLite never renames
  }
  CHECK(false, "unknown operation");
}

int code_of(DiskOp op, std::optional<FaultKind> fault) {
  return fault ? error_of(op, *fault) : SQLITE_OK;
}

unsigned lock_mask(int offset, int count) {
  return ((1U << (offset + count)) - 1U) & ~((1U << offset) - 1U);
}

std::string next_name() {
  static std::atomic<int> count{0};
  return "faultvfs" + std::to_string(++count);
}

}  // namespace

// The functions that SQLite calls. Each takes the lock of its VFS and ignores the file of a handle
// from before a crash.
struct FaultVfsCalls {
  struct File {
    sqlite3_file base;
    FaultVfs::Handle* handle;
  };

  static FaultVfs::Handle& handle_of(sqlite3_file* file) {
    return *reinterpret_cast<File*>(file)->handle;
  }
  static FaultVfs& vfs_of(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }
  static bool is_stale(const FaultVfs::Handle& handle) {
    return handle.life != handle.vfs->disk_.life();
  }

  static int open(sqlite3_vfs* sqlite_vfs, const char* name, sqlite3_file* sqlite_file, int flags,
                  int* out_flags) {
    FaultVfs& vfs = vfs_of(sqlite_vfs);
    std::lock_guard lock(vfs.mutex_);
    sqlite_file->pMethods = nullptr;
    if (vfs.has_stale_handles()) return SQLITE_CANTOPEN;
    const std::string path = name ? name : "temporary-" + std::to_string(++vfs.temporary_files_);
    const bool exists = vfs.disk_.exists(path);
    if (exists && (flags & SQLITE_OPEN_EXCLUSIVE) != 0) return SQLITE_CANTOPEN;
    const bool create = (flags & SQLITE_OPEN_CREATE) != 0 || !name;
    FaultDisk::Opened opened =
        vfs.disk_.open(path, create ? FaultDisk::OpenMode::create : FaultDisk::OpenMode::existing);
    if (!opened.file) return SQLITE_CANTOPEN;
    auto* handle =
        new FaultVfs::Handle{.vfs = &vfs,
                             .file = opened.file,
                             .life = vfs.disk_.life(),
                             .delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0 || !name};
    vfs.handles_.push_back(handle);
    reinterpret_cast<File*>(sqlite_file)->handle = handle;
    sqlite_file->pMethods = &methods;
    if (out_flags) *out_flags = flags;
    return SQLITE_OK;
  }

  static int close(sqlite3_file* file) {
    FaultVfs::Handle* handle = &handle_of(file);
    FaultVfs& vfs = *handle->vfs;
    std::lock_guard lock(vfs.mutex_);
    vfs.unmap_memory(*handle);
    if (handle->delete_on_close && !is_stale(*handle)) {
      vfs.disk_.remove(handle->file->name(), FaultDisk::RemoveMode::unsynced);
    }
    std::erase(vfs.handles_, handle);
    delete handle;
    file->pMethods = nullptr;
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* buffer, int bytes, sqlite3_int64 offset) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    if (is_stale(handle)) return SQLITE_IOERR_READ;
    const auto from = static_cast<std::uint64_t>(offset);
    const auto wanted = static_cast<std::uint64_t>(bytes);
    if (auto fault = handle.vfs->disk_.read(*handle.file, from, wanted)) {
      return error_of(DiskOp::read, *fault);
    }
    const std::string& image = handle.file->current();
    const std::uint64_t there = from < image.size() ? std::min(wanted, image.size() - from) : 0;
    if (there > 0) std::memcpy(buffer, image.data() + from, there);
    if (there == wanted) return SQLITE_OK;
    std::memset(static_cast<char*>(buffer) + there, 0, wanted - there);
    return SQLITE_IOERR_SHORT_READ;
  }

  static int write(sqlite3_file* file, const void* buffer, int bytes, sqlite3_int64 offset) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    if (is_stale(handle)) return SQLITE_IOERR_WRITE;
    const std::string_view view(static_cast<const char*>(buffer), static_cast<std::size_t>(bytes));
    return code_of(DiskOp::write,
                   handle.vfs->disk_.write(*handle.file, static_cast<std::uint64_t>(offset), view));
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    if (is_stale(handle)) return SQLITE_IOERR_TRUNCATE;
    return code_of(DiskOp::truncate,
                   handle.vfs->disk_.truncate(*handle.file, static_cast<std::uint64_t>(size)));
  }

  static int sync(sqlite3_file* file, int /*flags*/) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    if (is_stale(handle)) return SQLITE_IOERR_FSYNC;
    return code_of(DiskOp::sync, handle.vfs->disk_.sync(handle.file));
  }

  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    if (is_stale(handle)) return SQLITE_IOERR_FSTAT;
    *size = static_cast<sqlite3_int64>(handle.file->current().size());
    return SQLITE_OK;
  }

  static int lock_file(sqlite3_file* file, int wanted) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    if (is_stale(handle)) return SQLITE_IOERR_LOCK;
    return handle.vfs->lock(handle, wanted);
  }

  static int unlock_file(sqlite3_file* file, int wanted) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    handle.lock = std::min(handle.lock, wanted);
    return SQLITE_OK;
  }

  static int check_reserved(sqlite3_file* file, int* reserved) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    *reserved = handle.lock >= SQLITE_LOCK_RESERVED ||
                handle.vfs->other_holds(handle, SQLITE_LOCK_RESERVED);
    return SQLITE_OK;
  }

  static int file_control(sqlite3_file* file, int op, void* argument) {
    FaultVfs::Handle& handle = handle_of(file);
    switch (op) {
      case SQLITE_FCNTL_LOCKSTATE: *static_cast<int*>(argument) = handle.lock; return SQLITE_OK;
      case SQLITE_FCNTL_HAS_MOVED: *static_cast<int*>(argument) = 0; return SQLITE_OK;
      case SQLITE_FCNTL_PERSIST_WAL: {
        int& value = *static_cast<int*>(argument);
        if (value >= 0) handle.persist_wal = value;
        value = handle.persist_wal;
        return SQLITE_OK;
      }
      case SQLITE_FCNTL_VFSNAME:
        *static_cast<char**>(argument) = sqlite3_mprintf("%s", handle.vfs->name_.c_str());
        return SQLITE_OK;
      default: return SQLITE_NOTFOUND;
    }
  }

  static int sector_size(sqlite3_file*) { return 4096; }
  static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static int map_memory(sqlite3_file* file, int region, int bytes, int extend,
                        void volatile** mapped) {
    FaultVfs::Handle& handle = handle_of(file);
    FaultVfs& vfs = *handle.vfs;
    std::lock_guard lock(vfs.mutex_);
    *mapped = nullptr;
    if (is_stale(handle)) return SQLITE_IOERR_SHMMAP;
    if (!handle.memory) {
      std::shared_ptr<FaultVfs::SharedMemory>& memory = vfs.memories_[handle.file->name()];
      if (!memory) memory = std::make_shared<FaultVfs::SharedMemory>();
      handle.memory = memory;
      ++memory->users;
    }
    auto& regions = handle.memory->regions;
    const auto index = static_cast<std::size_t>(region);
    if (index >= regions.size() && !extend) return SQLITE_OK;
    while (index >= regions.size()) {
      regions.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes)));
    }
    *mapped = regions[index].get();
    return SQLITE_OK;
  }

  static int lock_memory(sqlite3_file* file, int offset, int count, int flags) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    if (is_stale(handle) && (flags & SQLITE_SHM_LOCK) != 0) return SQLITE_IOERR_SHMLOCK;
    return handle.vfs->lock_memory(handle, offset, count, flags);
  }

  static void barrier(sqlite3_file* file) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  static int unmap_memory(sqlite3_file* file, int /*delete_flag*/) {
    FaultVfs::Handle& handle = handle_of(file);
    std::lock_guard lock(handle.vfs->mutex_);
    handle.vfs->unmap_memory(handle);
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* sqlite_vfs, const char* name, int sync_folder) {
    FaultVfs& vfs = vfs_of(sqlite_vfs);
    std::lock_guard lock(vfs.mutex_);
    if (vfs.has_stale_handles()) return SQLITE_IOERR_DELETE;
    if (!vfs.disk_.exists(name)) return SQLITE_IOERR_DELETE_NOENT;
    return code_of(DiskOp::remove,
                   vfs.disk_.remove(name, sync_folder ? FaultDisk::RemoveMode::synced
                                                      : FaultDisk::RemoveMode::unsynced));
  }

  static int access(sqlite3_vfs* sqlite_vfs, const char* name, int flags, int* result) {
    FaultVfs& vfs = vfs_of(sqlite_vfs);
    std::lock_guard lock(vfs.mutex_);
    const auto size = vfs.disk_.size_of(name);
    // Like the unix VFS: an empty journal counts as missing.
    *result = flags == SQLITE_ACCESS_EXISTS ? size.value_or(0) > 0 : size.has_value();
    return SQLITE_OK;
  }

  static int full_path(sqlite3_vfs*, const char* name, int bytes, char* out) {
    sqlite3_snprintf(bytes, out, "%s", name);
    return SQLITE_OK;
  }

  static int randomness(sqlite3_vfs* sqlite_vfs, int bytes, char* out) {
    FaultVfs& vfs = vfs_of(sqlite_vfs);
    std::lock_guard lock(vfs.mutex_);
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<char>(vfs.random_());
    return bytes;
  }

  // No real waiting: a sleeping busy handler continues at once.
  static int sleep(sqlite3_vfs*, int microseconds) { return microseconds; }

  // Always 2026-01-01.
  static int current_time_ms(sqlite3_vfs*, sqlite3_int64* julian_ms) {
    *julian_ms = 212'633'985'600'000LL;
    return SQLITE_OK;
  }
  static int current_time(sqlite3_vfs* vfs, double* julian_days) {
    sqlite3_int64 ms = 0;
    current_time_ms(vfs, &ms);
    *julian_days = static_cast<double>(ms) / 86'400'000.0;
    return SQLITE_OK;
  }
  static int last_error(sqlite3_vfs*, int, char*) { return 0; }

  static const sqlite3_io_methods methods;
};

const sqlite3_io_methods FaultVfsCalls::methods = {
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_memory,
    .xShmLock = lock_memory,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_memory,
};

FaultVfs::FaultVfs(std::uint64_t seed) : name_(next_name()), disk_(seed), random_(seed) {
  vfs_.iVersion = 2;
  vfs_.szOsFile = sizeof(FaultVfsCalls::File);
  vfs_.mxPathname = 512;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = FaultVfsCalls::open;
  vfs_.xDelete = FaultVfsCalls::remove;
  vfs_.xAccess = FaultVfsCalls::access;
  vfs_.xFullPathname = FaultVfsCalls::full_path;
  vfs_.xRandomness = FaultVfsCalls::randomness;
  vfs_.xSleep = FaultVfsCalls::sleep;
  vfs_.xCurrentTime = FaultVfsCalls::current_time;
  vfs_.xCurrentTimeInt64 = FaultVfsCalls::current_time_ms;
  vfs_.xGetLastError = FaultVfsCalls::last_error;
  CHECK(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(seed % 1'000'000 + 1), nullptr);
}

FaultVfs::~FaultVfs() {
  CHECK(handles_.empty(), "a connection is still open on the fault VFS");
  sqlite3_vfs_unregister(&vfs_);
}

void FaultVfs::crash(CrashOutcome outcome) {
  std::lock_guard lock(mutex_);
  disk_.crash(outcome);
  memories_.clear();
}

bool FaultVfs::has_stale_handles() const {
  return std::ranges::any_of(handles_,
                             [&](const Handle* handle) { return handle->life != disk_.life(); });
}

bool FaultVfs::other_holds(const Handle& handle, int lock) const {
  return std::ranges::any_of(handles_, [&](const Handle* other) {
    return other != &handle && other->file == handle.file && other->life == handle.life &&
           other->lock >= lock;
  });
}

int FaultVfs::lock(Handle& handle, int wanted) {
  if (handle.lock >= wanted) return SQLITE_OK;
  switch (wanted) {
    case SQLITE_LOCK_SHARED:
      if (other_holds(handle, SQLITE_LOCK_PENDING)) return SQLITE_BUSY;
      break;
    case SQLITE_LOCK_RESERVED:
      if (other_holds(handle, SQLITE_LOCK_RESERVED)) return SQLITE_BUSY;
      break;
    default:
      if (other_holds(handle, SQLITE_LOCK_RESERVED)) return SQLITE_BUSY;
      if (other_holds(handle, SQLITE_LOCK_SHARED)) {
        handle.lock = SQLITE_LOCK_PENDING;  // blocks new readers until the last has finished
        return SQLITE_BUSY;
      }
      break;
  }
  handle.lock = wanted;
  return SQLITE_OK;
}

int FaultVfs::lock_memory(Handle& handle, int offset, int count, int flags) {
  const unsigned mask = lock_mask(offset, count);
  if (!handle.memory) return SQLITE_IOERR_SHMLOCK;
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    unlock_memory(handle, mask);
    return SQLITE_OK;
  }
  SharedMemory& memory = *handle.memory;
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  const unsigned held = exclusive ? handle.exclusive_locks : handle.shared_locks;
  if ((held & mask) == mask) return SQLITE_OK;
  for (int i = offset; i < offset + count; ++i) {
    const bool own_shared = (handle.shared_locks >> i & 1U) != 0;
    if (memory.exclusive[i]) return SQLITE_BUSY;
    if (exclusive && memory.shared[i] > (own_shared ? 1 : 0)) return SQLITE_BUSY;
  }
  unlock_memory(handle, mask);
  for (int i = offset; i < offset + count; ++i) {
    if (exclusive)
      memory.exclusive[i] = true;
    else
      ++memory.shared[i];
  }
  (exclusive ? handle.exclusive_locks : handle.shared_locks) |= mask;
  return SQLITE_OK;
}

void FaultVfs::unlock_memory(Handle& handle, unsigned mask) {
  if (!handle.memory) return;
  for (int i = 0; i < SQLITE_SHM_NLOCK; ++i) {
    const unsigned bit = 1U << i;
    if ((mask & bit) == 0) continue;
    if ((handle.shared_locks & bit) != 0) --handle.memory->shared[i];
    if ((handle.exclusive_locks & bit) != 0) handle.memory->exclusive[i] = false;
  }
  handle.shared_locks &= ~mask;
  handle.exclusive_locks &= ~mask;
}

void FaultVfs::unmap_memory(Handle& handle) {
  if (!handle.memory) return;
  unlock_memory(handle, ~0U);
  if (--handle.memory->users == 0) {
    auto found = memories_.find(handle.file->name());
    if (found != memories_.end() && found->second == handle.memory) memories_.erase(found);
  }
  handle.memory.reset();
}

}  // namespace perdure
