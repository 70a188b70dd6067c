#include "daemon/setup/stored_epoch.h"

#include "store/files/identity.h"
#include "store/files/posix_disk.h"
#include "store/sqlite/schema.h"

namespace perdure {
namespace {

Result<std::uint64_t> read_sqlite(const std::string& path) {
  Db db = TRY(Db::open({.path = path, .vfs = {}, .flags = SQLITE_OPEN_READONLY}));
  return static_cast<std::uint64_t>(TRY(meta_int(db, meta::epoch)));
}

Result<std::uint64_t> read_files(const std::string& path) {
  const std::unique_ptr<JournalDisk> disk = TRY(open_posix_disk(path, JournalOpen::existing));
  return TRY(decode_identity(TRY(read_whole(*disk, identity_name)))).epoch;
}

}  // namespace

std::optional<std::uint64_t> stored_epoch(const StorePlace& place) {
  if (place.engine == EngineName::postgres) return std::nullopt;
  const Result<std::uint64_t> epoch =
      place.engine == EngineName::sqlite ? read_sqlite(place.path) : read_files(place.path);
  return epoch ? std::optional(*epoch) : std::nullopt;
}

}  // namespace perdure
