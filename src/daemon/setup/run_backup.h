// A backup of a store that no thread steps: the caller does the work.
#pragma once

#include <string>

#include "base/result.h"
#include "store/engine.h"

namespace perdure {

// Steps the store until the backup is done. disk_full, storage_unknown: the store cannot continue,
// and the file at the path is not a backup. Other errors as for StoreEngine::backup.
Result<> run_backup(StoreEngine& store, const std::string& path);

}  // namespace perdure
