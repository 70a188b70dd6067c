// A store's folder on the real disk, held open by its descriptor and locked: no second process can
// open the store during that time.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/files/disk.h"

namespace perdure {

// Creates the folder (0700) if it is missing and `mode` allows it; its parent must exist. conflict:
// another process has the store open; not_found, unavailable: the folder is missing or not ours.
Result<std::unique_ptr<JournalDisk>> open_posix_disk(const std::string& path, JournalOpen mode);

}  // namespace perdure
