// A backup of a store that no thread steps: whoever asks for it does the work.
#pragma once

#include <string>

#include "base/result.h"
#include "store/engine.h"

namespace perdure {

// Steps the store until the backup is made. disk_full, storage_unknown: the store does not go on;
// what is at the place then is no backup. Other errors as StoreEngine::backup.
Result<> run_backup(StoreEngine& store, const std::string& path);

}  // namespace perdure
