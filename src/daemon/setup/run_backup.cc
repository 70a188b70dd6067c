#include "daemon/setup/run_backup.h"

#include <memory>
#include <optional>

namespace perdure {

Result<> run_backup(StoreEngine& store, const std::string& path) {
  // Shared, because an abandoned backup ends only with the store.
  const auto outcome = std::make_shared<std::optional<Result<>>>();
  TRY_VOID(store.backup(path, [outcome](Result<> done) { *outcome = std::move(done); }));
  while (!*outcome) {
    if (store.step() || store.idle_step() || *outcome) continue;
    // A backup always has work to do, so the store must have refused to.
    if (store.totals().disk_full) {
      return fail(Code::disk_full,
                  "the journal's disk is full, so no backup can be made: make room first; what is "
                  "at " +
                      path + " is not a backup");
    }
    return fail(Code::storage_unknown,
                "the journal failed, so no backup can be made: look at its disk; what is at " +
                    path + " is not a backup");
  }
  return **outcome;
}

}  // namespace perdure
