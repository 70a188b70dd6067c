#include "store/sqlite/log/vfs_file.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/check.h"
#include "store/sqlite/sqlite_db.h"

namespace perdure {
namespace {

// SQLite never requests more than a page at once, and its unix VFS writes nothing for 1 MiB.
constexpr std::size_t chunk_bytes = 64UL << 10;

int kind_flag(VfsFileKind kind) {
  switch (kind) {
    case VfsFileKind::database: return SQLITE_OPEN_MAIN_DB;
    case VfsFileKind::wal: return SQLITE_OPEN_WAL;
    case VfsFileKind::other: return SQLITE_OPEN_SUPER_JOURNAL;  // needs no database next to it
  }
  CHECK(false, "unknown kind of file");
}

int mode_flags(VfsFile::Mode mode) {
  switch (mode) {
    case VfsFile::Mode::read_only: return SQLITE_OPEN_READONLY;
    case VfsFile::Mode::read_write: return SQLITE_OPEN_READWRITE;
    case VfsFile::Mode::create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  CHECK(false, "unknown mode");
}

// A VFS may read the parts of a name (sqlite3_filename_database and similar), which exist only in a
// name made by sqlite3_create_filename.
const char* make_name(const FilePlace& place) {
  std::string main = place.path;
  if (place.kind == VfsFileKind::wal && main.ends_with("-wal")) main.resize(main.size() - 4);
  const std::string journal = main + "-journal";
  const std::string wal = main + "-wal";
  const char* name =
      sqlite3_create_filename(main.c_str(), journal.c_str(), wal.c_str(), 0, nullptr);
  CHECK(name != nullptr);
  return name;
}

const char* name_part(const char* name, VfsFileKind kind) {
  switch (kind) {
    case VfsFileKind::database: return name;
    case VfsFileKind::wal: return sqlite3_filename_wal(name);
    case VfsFileKind::other: return name;
  }
  CHECK(false, "unknown kind of file");
}

}  // namespace

Result<sqlite3_vfs*> find_vfs(const std::string& name) {
  CHECK(sqlite3_initialize() == SQLITE_OK);
  sqlite3_vfs* vfs = sqlite3_vfs_find(name.empty() ? nullptr : name.c_str());
  if (vfs == nullptr) return fail(Code::invalid_argument, "no SQLite VFS named '" + name + "'");
  return vfs;
}

Result<bool> file_exists(const FilePlace& place) {
  int there = 0;
  const int result =
      place.vfs->xAccess(place.vfs, place.path.c_str(), SQLITE_ACCESS_EXISTS, &there);
  if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "look for " + place.path));
  return there != 0;
}

Result<> delete_file(const FilePlace& place) {
  const int result = place.vfs->xDelete(place.vfs, place.path.c_str(), 1);
  if (result != SQLITE_OK && result != SQLITE_IOERR_DELETE_NOENT) {
    return std::unexpected(sqlite_error(result, "delete " + place.path));
  }
  return {};
}

void VfsFile::Closer::operator()(sqlite3_file* file) const {
  if (file->pMethods != nullptr) file->pMethods->xClose(file);
  ::operator delete(file);
  sqlite3_free_filename(name);
}

Result<VfsFile> VfsFile::open(const FilePlace& place, Mode mode) {
  const auto size = static_cast<std::size_t>(place.vfs->szOsFile);
  void* memory = ::operator new(size);
  std::fill_n(static_cast<char*>(memory), size, '\0');
  const char* name = make_name(place);
  std::unique_ptr<sqlite3_file, Closer> file(static_cast<sqlite3_file*>(memory), Closer{name});
  int flags_out = 0;
  const int result = place.vfs->xOpen(place.vfs, name_part(name, place.kind), file.get(),
                                      mode_flags(mode) | kind_flag(place.kind), &flags_out);
  if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "open " + place.path));
  return VfsFile(std::move(file));
}

Result<std::uint64_t> VfsFile::size() {
  sqlite3_int64 bytes = 0;
  const int result = file_->pMethods->xFileSize(file_.get(), &bytes);
  if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "size of a file"));
  return static_cast<std::uint64_t>(bytes);
}

Result<> VfsFile::read(std::uint64_t offset, std::span<char> to) {
  while (!to.empty()) {
    const std::size_t part = std::min(to.size(), chunk_bytes);
    const int result = file_->pMethods->xRead(file_.get(), to.data(), static_cast<int>(part),
                                              static_cast<sqlite3_int64>(offset));
    if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "read a file"));
    offset += part;
    to = to.subspan(part);
  }
  return {};
}

Result<> VfsFile::write(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), chunk_bytes);
    const int result = file_->pMethods->xWrite(file_.get(), bytes.data(), static_cast<int>(part),
                                               static_cast<sqlite3_int64>(offset));
    if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "write a file"));
    offset += part;
    bytes.remove_prefix(part);
  }
  return {};
}

Result<> VfsFile::truncate(std::uint64_t bytes) {
  const int result = file_->pMethods->xTruncate(file_.get(), static_cast<sqlite3_int64>(bytes));
  if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "cut a file"));
  return {};
}

Result<> VfsFile::sync() {
  const int result = file_->pMethods->xSync(file_.get(), SQLITE_SYNC_NORMAL);
  if (result != SQLITE_OK) return std::unexpected(sqlite_error(result, "sync a file"));
  return {};
}

}  // namespace perdure
