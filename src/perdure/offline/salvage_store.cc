#include "perdure/offline/salvage_store.h"

#include <algorithm>
#include <filesystem>

#include "daemon/setup/data_folder.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

// Paths with this prefix, sorted.
std::vector<std::string> paths_like(const std::string& prefix) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(prefix).parent_path(), error)) {
    if (entry.path().string().starts_with(prefix)) out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

Result<SalvagedStore> salvage_sqlite(const StorePlace& place) {
  const std::string prefix = place.path + "-wal.damaged";
  const std::vector<std::string> before = paths_like(prefix);
  std::unique_ptr<SqliteStore> store =
      TRY(SqliteStore::open({.path = place.path, .create = false, .salvage = true}));
  SalvagedStore out;
  std::ranges::set_difference(paths_like(prefix), before, std::back_inserter(out.kept));
  out.indexes_rebuilt = TRY(store->damaged_indexes());
  if (out.indexes_rebuilt > 0) TRY_VOID(store->rebuild_index());
  out.store = std::move(store);
  return out;
}

// Indexes are rebuilt whenever they cannot be read.
Result<SalvagedStore> salvage_files(const StorePlace& place) {
  SalvagedStore out;
  Result<std::unique_ptr<StoreEngine>> opened = open_journal(place, {});
  if (!opened && opened.error().code() == Code::damaged) {
    std::string copy = place.path + "/commits.damaged";
    std::error_code error;
    for (int i = 2; fs::exists(copy, error); ++i) {
      copy = place.path + "/commits.damaged." + std::to_string(i);
    }
    fs::copy(place.path + "/commits", copy, fs::copy_options::recursive, error);
    if (error) return fail(Code::unavailable, copy + ": " + error.message());
    TRY_VOID(sync_tree(copy));
    TRY_VOID(sync_path(place.path));  // the original is about to be removed
    out.kept.push_back(copy);
    opened = open_journal(place, {.salvage = true});
  }
  out.store = TRY(std::move(opened));
  return out;
}

}  // namespace

Result<SalvagedStore> salvage_store(const StorePlace& place) {
  switch (place.engine) {
    case EngineName::sqlite: return salvage_sqlite(place);
    case EngineName::files: return salvage_files(place);
    case EngineName::postgres: break;
  }
  return fail(Code::invalid_argument,
              "the store is in a database, which is mended with the server's own means");
}

}  // namespace perdure
